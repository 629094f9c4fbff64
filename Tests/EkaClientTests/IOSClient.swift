import Foundation
import HTTPTypes
import ServerTestSupport
import TestSupport
import Testing

@testable import Eka
@testable import S3
@testable import ScribeHTTP
@testable import ScribeServer

/// What the iOS SDK sends, when it does, and what it makes of the answers.
struct IOSClient: Sendable {
    static let bucket = "m-prod-voice-record"
    static let pollPause = Duration.seconds(2)
    static let pollLimit = 3

    let session: ClientSession

    init(_ server: TestScribeClient, _ clock: ManualClock, _ id: String = "dev-client", _ secret: String = "dev-secret")
        async throws
    {
        session = try await ClientSession(
            server, clock, login: #"{"client_id":"\#(id)","client_secret":"\#(secret)"}"#, refresh: .withBothTokens
        ) { tokens in
            HTTPFields([
                ("Authorization", "Bearer \(tokens.accessToken)"), ("auth", tokens.accessToken),
                ("client-id", "dev-client"), ("flavour", "ScribeIOS"), ("Accept", "*/*"),
                ("User-Agent", "EkaScribeApp/1.0 (com.example.scribe; build:1; iOS 18.4.0) Alamofire/5.10.2"),
            ])
        }
    }

    /// Runs a test against a server of its own, on a socket: the SDK reaches it under several names.
    static func run(_ test: @escaping @Sendable (IOSClient) async throws -> Void) async throws {
        let server = try TestServer()
        let clock = server.manual
        try await server.run(.socket) { try await test(IOSClient($0, clock)) }
    }

    /// Every 2xx must decode and hold something.
    static func decode<Value: Decodable>(_ answer: TestAnswer, as type: Value.Type = Value.self) throws -> Value {
        guard answer.isSuccess else { throw IOSFailure(answer) }
        guard !answer.body.isEmpty else { throw IOSFailure.emptyAnswer }
        return try answer.decoded()
    }

    // MARK: Recording

    /// - Parameters:
    ///   - visit: where the tests say which fixture they want.
    ///   - folder: the device's date.
    func start(
        _ id: String, visit: String = "v-1", folder: String = "260510",
        templates: [String] = ["clinical_notes_template"]
    ) async throws -> IOS.Acknowledgement {
        let wanted = templates.map { #"{"template_id":"\#($0)","template_name":"Notes","template_type":"custom"}"# }
        return try Self.decode(
            try await session.send(
                .post, "/voice/api/v2/transaction/init/\(id)",
                #"""
                {"mode":"consultation","input_language":["en-IN"],"transfer":"vaded","model_type":"pro",
                 "s3_url":"s3://\#(Self.bucket)/\#(folder)/\#(id)","Section":"","speciality":"",
                 "output_format_template":[\#(wanted.joined(separator: ","))],
                 "patient_details":{"age":45,"biologicalSex":"M","username":"Asha","oid":"p-1",
                                    "visit_id":"\#(visit)"}}
                """#
            )
        )
    }

    /// Names and times in seconds; only what was uploaded is listed.
    func stop(_ id: String, _ files: [String]) async throws -> IOS.Acknowledgement {
        let times = files.enumerated().map { position, name in
            #"{"\#(name)":{"st":\#(Double(position) * 9.5),"et":\#(Double(position) * 9.5 + 10)}}"#
        }
        return try await list("stop", id, files, times)
    }

    /// Without times.
    func commit(_ id: String, _ files: [String]) async throws -> IOS.Acknowledgement {
        try await list("commit", id, files, [])
    }

    private func list(
        _ verb: String, _ id: String, _ files: [String], _ times: [String]
    ) async throws -> IOS.Acknowledgement {
        let names = files.map { "\"\($0)\"" }.joined(separator: ",")
        let answer = try await session.send(
            .post, "/voice/api/v2/transaction/\(verb)/\(id)",
            #"{"audio_files":[\#(names)],"chunk_info":[\#(times.joined(separator: ","))]}"#
        )
        return try Self.decode(answer)
    }

    // MARK: Uploads

    func credentials() async throws -> IOS.Credentials {
        try Self.decode(try await session.send(.get, "/credentials", host: "cog.eka.care"))
    }

    /// One PUT with its signature in the query, to the bucket's own host.
    func upload(
        _ name: String, of id: String, with keys: IOS.Credentials, bid: String = "b-demo", folder: String = "260510",
        audio: Data? = nil, hostSuffix: String = "s3.ap-south-1.amazonaws.com"
    ) async throws -> TestAnswer {
        let host = "\(Self.bucket).\(hostSuffix)"
        let signer = RequestSigner(
            accessKeyID: keys.credentials.accessKeyID, secretKey: keys.credentials.secretKey,
            sessionToken: keys.credentials.sessionToken, host: host
        )
        let signed = [
            ("content-type", name.contains(".wav") ? "audio/wav" : "audio/mp4"), ("x-amz-meta-bid", bid),
            ("x-amz-meta-txnid", id),
        ]
        let headers = HTTPFields([("User-Agent", "aws-sdk-iOS/2.38.0 iOS/18.4 en_IN")] + signed)
        let path = "/\(folder)/\(id)/\(name)"
        return try await session.server.send(
            .put, signer.presign("PUT", path, at: session.clock.now, extra: signed), host: host, headers: headers,
            body: audio ?? TestAudio.chunk(name)
        )
    }

    /// Three attempts, from the second on with new credentials.
    func uploadPersistently(_ name: String, of id: String, with keys: IOS.Credentials) async throws -> [TestAnswer] {
        var keys = keys
        var answers: [TestAnswer] = []
        for attempt in 1...3 {
            if attempt > 1 { keys = try await credentials() }
            answers.append(try await upload(name, of: id, with: keys))
            if answers.last?.isSuccess == true { break }
        }
        return answers
    }

    /// Init, uploads, stop and commit.
    func record(_ id: String, chunks: [String] = ["1.m4a", "2.m4a"], visit: String = "v-1") async throws {
        let started = try await start(id, visit: visit)
        let keys = try await credentials()
        for name in chunks {
            try #require(try await upload(name, of: id, with: keys, bid: started.bId ?? "").status == 200)
        }
        _ = try await stop(id, chunks)
        _ = try await commit(id, chunks)
    }

    // MARK: Results

    enum Outcome {
        case completed(IOS.Result)
        case failed(IOS.Result)
        /// Shown as completed, without any result.
        case timedOut

        var completed: IOS.Result? {
            if case .completed(let result) = self { result } else { nil }
        }

        var failed: IOS.Result? {
            if case .failed(let result) = self { result } else { nil }
        }
    }

    /// Looks at `data.output[].status` and nothing else; gives up after three answers.
    /// - Parameter holds: how long the server holds the first polls, for those that it does.
    func pollResult(_ id: String, holds: [Duration] = []) async throws -> Outcome {
        for attempt in 0..<Self.pollLimit {
            if attempt > 0 { session.clock.advance(by: Self.pollPause) }
            let hold = holds.indices.contains(attempt) ? holds[attempt] : nil
            let answer = try await session.clock.letting(pass: hold) { try await status(id) }
            guard answer.isSuccess else { continue }
            let result: IOS.Result = try Self.decode(answer)
            let statuses = result.data?.output?.compactMap(\.status) ?? []
            if answer.status == 202 { continue }
            if statuses.contains(where: \.isUsable) { return .completed(result) }
            if !statuses.isEmpty, statuses.allSatisfy({ $0 == .failure }) { return .failed(result) }
        }
        return .timedOut
    }

    func status(_ id: String) async throws -> TestAnswer { try await session.send(.get, "/voice/api/v3/status/\(id)") }

    /// One question, whatever the answer.
    func sessionOutput(_ id: String) async throws -> IOS.Result { try Self.decode(try await status(id)) }
}
