import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Logging
import NIOCore
import ScribeDomain
import ScribeRuntime
import TestSupport
import Testing

@testable import ScribeServer

/// How a test reaches the server: straight into it, or over a socket.
enum Transport: CaseIterable, CustomStringConvertible {
    case inProcess, socket

    var setup: TestingSetup { self == .inProcess ? .router : .live }
    var description: String { self == .inProcess ? "in process" : "over a socket" }
}

/// A server of its own for one test, with a clock that the test moves.
struct TestServer {
    let manual = ManualClock()
    let folder: TemporaryFolder
    var configuration = Configuration()

    init() throws {
        folder = try TemporaryFolder()
        configuration.port = 0
        configuration.dataFolder = "\(folder.path)/data"
    }

    func run(_ transport: Transport = .inProcess, _ test: @Sendable (TestScribeClient) async throws -> Void)
        async throws
    {
        var logger = Logger(label: "test")
        logger.logLevel = .critical
        let application = try await buildApplication(
            configuration: configuration, clock: manual.clock, identifiers: .counting(), logger: logger
        )
        try await application.test(transport.setup) { client in
            try await test(TestScribeClient(client: client))
        }
    }
}

/// What came back.
struct TestAnswer {
    let status: Int
    let headers: HTTPFields
    let body: Data

    var json: JSONValue { (try? JSONDecoder().decode(JSONValue.self, from: body)) ?? .null }
    var text: String { String(decoding: body, as: UTF8.self) }

    /// A string by its path, for example `error.code`.
    subscript(path: String) -> String? {
        path.split(separator: ".").reduce(Optional(json)) { value, name in
            if let index = Int(name), case .array(let items)? = value {
                return items.indices.contains(index) ? items[index] : nil
            }
            return value?[String(name)]
        }?.stringValue
    }
}

/// A client with a token, if it has logged in.
struct TestScribeClient: Sendable {
    let client: any TestClientProtocol
    var headers: HTTPFields = [:]

    func send(
        _ method: HTTPRequest.Method, _ uri: String, headers: HTTPFields = [:], body: Data? = nil
    ) async throws -> TestAnswer {
        let response = try await client.executeRequest(
            uri: uri, method: method, headers: self.headers + headers, body: body.map { ByteBuffer(bytes: $0) }
        )
        let answer = TestAnswer(
            status: response.status.code, headers: response.headers, body: Data(response.body.readableBytesView)
        )
        ExchangeLog.append(method, uri, answer)
        return answer
    }

    func get(_ uri: String, headers: HTTPFields = [:]) async throws -> TestAnswer {
        try await send(.get, uri, headers: headers)
    }

    func post(_ uri: String, _ json: String, headers: HTTPFields = [:]) async throws -> TestAnswer {
        try await send(.post, uri, headers: headers, body: Data(json.utf8))
    }

    func login(_ id: String = "dev-client", _ secret: String = "dev-secret") async throws -> TestScribeClient {
        let answer = try await post(
            "/connect-auth/v1/account/login", #"{"client_id":"\#(id)","client_secret":"\#(secret)"}"#
        )
        try #require(answer.status == 200)
        var copy = self
        copy.headers[.authorization] = "Bearer \(answer["access_token"] ?? "")"
        return copy
    }

    // MARK: A consultation

    static let bucket = "m-prod-voice-record"

    func initialise(_ id: String, _ more: String = "", headers: HTTPFields = [:]) async throws -> TestAnswer {
        try await post(
            "/voice/api/v2/transaction/init/\(id)",
            #"{"transfer":"vaded","mode":"consultation","s3_url":"s3://\#(Self.bucket)/260510/\#(id)"\#(more)}"#,
            headers: headers
        )
    }

    func signer() async throws -> RequestSigner {
        let answer = try await get("/credentials")
        return RequestSigner(
            accessKeyID: try #require(answer["credentials.AccessKeyId"]),
            secretKey: try #require(answer["credentials.SecretKey"]),
            sessionToken: try #require(answer["credentials.SessionToken"])
        )
    }

    func upload(
        _ name: String, of id: String, _ audio: Data = TestAudio.wav(seconds: 2), at date: Date
    ) async throws -> TestAnswer {
        let path = "/\(Self.bucket)/260510/\(id)/\(name)"
        return try await send(.put, path, headers: signer().sign("PUT", path, at: date), body: audio)
    }

    func list(_ verb: String, _ id: String, _ files: [String]) async throws -> TestAnswer {
        let names = files.map { "\"\($0)\"" }.joined(separator: ",")
        let times = files.enumerated().map { #"{"\#($1)":{"st":\#(Double($0) * 9.5),"et":\#(Double($0) * 9.5 + 10)}}"# }
        return try await post(
            "/voice/api/v2/transaction/\(verb)/\(id)",
            #"{"audio_files":[\#(names)],"chunk_info":[\#(times.joined(separator: ","))]}"#
        )
    }

    func status(_ id: String, _ query: String = "", headers: HTTPFields = [:]) async throws -> TestAnswer {
        try await get("/voice/api/v3/status/\(id)\(query)", headers: headers)
    }

    /// Init, one upload, stop and commit.
    func consultation(
        _ id: String, _ more: String = "", audio: Data = TestAudio.wav(seconds: 2), at date: Date,
        headers: HTTPFields = [:]
    ) async throws {
        try #require(try await initialise(id, more, headers: headers).status == 201)
        try #require(try await upload("1.m4a", of: id, audio, at: date).status == 200)
        try #require(try await list("stop", id, ["1.m4a"]).status == 200)
        try #require(try await list("commit", id, ["1.m4a"]).status == 200)
    }
}

extension HTTPFields {
    static func + (first: HTTPFields, second: HTTPFields) -> HTTPFields {
        var sum = first
        for field in second { sum[field.name] = field.value }
        return sum
    }
}
