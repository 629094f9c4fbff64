import Basics
import Connections
import Eka
import Engines
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Logging
import NIOCore
import NIOSSL
import S3
import ScribeHTTP
import ScribeServer
import ServiceLifecycle
import Suki
import TestSupport
import Testing

/// How a test reaches the server: straight into it, or over a socket, encrypted or not.
package enum Transport: CaseIterable, CustomStringConvertible {
    case inProcess, socket, tls

    package var description: String {
        switch self {
        case .inProcess: "in process"
        case .socket: "over a socket"
        case .tls: "over TLS"
        }
    }
}

/// A server of its own for one test, with a clock that the test moves.
package struct TestServer {
    package let manual: ManualClock
    package let folder: TemporaryFolder
    package var configuration = Configuration()
    /// In place of the one that writes by rules.
    package var noteWriter: (any NoteWriter)?
    /// In place of the configured one.
    package var transcriber: (any Transcriber)?
    /// Log of the server; nil drops its lines.
    package var log: LogLines?

    private let isOnSQLite: Bool
    /// One for all servers: making an RSA key takes a tenth of a second.
    private static let sukiSigningKey = (try? SukiContribution.makeKey()).map { Data($0) }

    /// - Parameters:
    ///   - now: 2026-05-10 unless told otherwise.
    ///   - onSQLite: whether the test uses what only data on SQLite has: snapshots and resets.
    package init(now: Date? = nil, onSQLite: Bool = false) throws {
        isOnSQLite = onSQLite
        manual = now.map { ManualClock(now: $0) } ?? ManualClock()
        folder = try TemporaryFolder()
        (configuration.host, configuration.port) = ("127.0.0.1", 0)
        // These are the machine's times, and a test may take as long as it likes between two requests.
        configuration.connectionLimits.requestTime = timeOfATest
        configuration.dataFolder = "\(folder.path)/data"
    }

    /// The folder of the database and the uploads, once the server has started.
    package func stateFolder() throws -> String {
        let name = try String(contentsOfFile: "\(configuration.dataFolder)/current", encoding: .utf8)
        return "\(configuration.dataFolder)/states/\(name.trimmingCharacters(in: .newlines))"
    }

    /// The files of what was uploaded.
    package func objectFiles() throws -> [String] {
        let folder = try stateFolder() + "/objects"
        return try FileManager.default.subpathsOfDirectory(atPath: folder).filter { $0.contains("/") }
    }

    /// Runs a test against the server: when there is room for it, and as long as a test may take.
    package func run(
        _ transport: Transport = .inProcess, _ test: @escaping @Sendable (TestScribeClient) async throws -> Void
    )
        async throws
    {
        try await Self.slots.run {
            try await withinTheTimeOfATest {
                switch transport {
                case .inProcess: try await runInProcess(test)
                case .socket: try await runOverSocket(test)
                case .tls: try await overTLS().runOverSocket(test)
                }
            }
        }
    }

    /// As many servers as keep a machine busy; all at once would only make each of them slow.
    private static let slots = Slots(count: 2 * ProcessInfo.processInfo.activeProcessorCount)

    private func application(
        onReady: @escaping @Sendable (Listener.Ports) -> Void = { _ in }
    ) async throws -> ScribeApplication {
        var logger = log?.logger ?? Logger(label: "test")
        if log == nil { logger.logLevel = .critical }
        var parts = Emulator.Parts(
            clock: manual.clock, identifiers: .counting(), logger: logger, transcriber: transcriber,
            noteWriter: noteWriter)
        if !isOnSQLite { parts.place = { TestDatabase.place($0, $1) } }
        try prepareSukiSigningKey()
        return try await buildApplication(configuration, parts, onReady: onReady)
    }

    private func prepareSukiSigningKey() throws {
        let file = "\(configuration.dataFolder)/suki-signing-key.pem"
        guard let key = Self.sukiSigningKey, !FileManager.default.fileExists(atPath: file) else { return }
        try FileManager.default.createDirectory(
            atPath: configuration.dataFolder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        try key.write(to: URL(fileURLWithPath: file))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file)
    }

    /// The same server with a port for TLS, to which its client then connects.
    private func overTLS() -> TestServer {
        var copy = self
        copy.configuration.tls.isOn = true
        copy.configuration.tls.port = 0
        copy.configuration.tls.folder = "\(folder.path)/tls"
        return copy
    }

    /// Trusts the server's authority and nobody else.
    private func clientConfiguration() -> TestClient.Configuration {
        guard let folder = configuration.tls.isOn ? configuration.tls.folder : nil else { return .patient }
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.trustRoots = .file("\(folder)/ca.pem")
        return TestClient.Configuration(tlsConfiguration: tls, timeout: timeOfATest, serverName: "localhost")
    }

    private func runInProcess(_ test: @Sendable (TestScribeClient) async throws -> Void) async throws {
        try await application().test(.router) { try await test(TestScribeClient(door: .router($0))) }
    }

    /// Not by `.test(.live)`, whose client gives up after 20 s: how long an answer takes is the machine's business.
    private func runOverSocket(_ test: @escaping @Sendable (TestScribeClient) async throws -> Void) async throws {
        let (ports, ready) = AsyncStream.makeStream(of: Listener.Ports.self)
        let application = try await application { ready.yield($0) }
        let group = ServiceGroup(
            configuration: .init(
                services: [application.named],
                logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        )
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask {
                defer { ready.finish() }
                try await group.run()
            }
            if let ports = await ports.first(where: { _ in true }) {
                let port = ports.tls ?? ports.plain
                do {
                    try await TestClient.withClient(
                        host: "127.0.0.1", port: port, configuration: clientConfiguration()
                    ) { client in
                        try await test(TestScribeClient(door: .socket(client, port: port)))
                    }
                } catch {
                    await group.triggerGracefulShutdown()
                    throw error
                }
                await group.triggerGracefulShutdown()
            }
            try await tasks.waitForAll()
        }
    }
}

extension TestClient.Configuration {
    /// Waits as long as the test may take.
    package static let patient = TestClient.Configuration(timeout: timeOfATest)
}

/// A client with a token, if it has logged in.
package struct TestScribeClient: Sendable {
    package enum Door: Sendable {
        case router(any TestClientProtocol)
        case socket(TestClient, port: Int)
    }

    package let door: Door
    package var headers: HTTPFields = [:]

    package init(door: Door, headers: HTTPFields = [:]) {
        self.door = door
        self.headers = headers
    }

    /// The port of a server on a socket.
    package var port: Int? {
        guard case .socket(_, let port) = door else { return nil }
        return port
    }

    package func send(
        _ method: HTTPRequest.Method, _ uri: String, headers: HTTPFields = [:], body: Data? = nil
    ) async throws -> TestAnswer {
        let headers = self.headers + headers
        let body = body.map { ByteBuffer(bytes: $0) }
        let answer: TestAnswer
        switch door {
        case .router(let client):
            let response = try await client.executeRequest(uri: uri, method: method, headers: headers, body: body)
            answer = TestAnswer(response.head, response.body)
        case .socket(let client, _):
            answer = try await client.answer(
                to: .init(uri, method: method, authority: "localhost", headers: headers, body: body))
        }
        ExchangeLog.append(method, uri, answer)
        return answer
    }

    package func get(_ uri: String, headers: HTTPFields = [:]) async throws -> TestAnswer {
        try await send(.get, uri, headers: headers)
    }

    package func post(_ uri: String, _ json: String, headers: HTTPFields = [:]) async throws -> TestAnswer {
        try await send(.post, uri, headers: headers, body: Data(json.utf8))
    }

    package func login(_ id: String = "dev-client", _ secret: String = "dev-secret") async throws -> TestScribeClient {
        let answer = try await post(
            "/connect-auth/v1/account/login", #"{"client_id":"\#(id)","client_secret":"\#(secret)"}"#
        )
        try #require(answer.status == 200)
        var copy = self
        copy.headers[.authorization] = "Bearer \(try answer["access_token"])"
        return copy
    }

    // MARK: A consultation

    package static let bucket = "m-prod-voice-record"

    package func initialise(_ id: String, _ more: String = "", headers: HTTPFields = [:]) async throws -> TestAnswer {
        try await post(
            "/voice/api/v2/transaction/init/\(id)",
            #"{"transfer":"vaded","mode":"consultation","s3_url":"s3://\#(Self.bucket)/260510/\#(id)"\#(more)}"#,
            headers: headers
        )
    }

    package func signer() async throws -> RequestSigner {
        let answer = try await get("/credentials")
        return RequestSigner(
            accessKeyID: try answer["credentials.AccessKeyId"],
            secretKey: try answer["credentials.SecretKey"],
            sessionToken: try answer["credentials.SessionToken"]
        )
    }

    package func upload(
        _ name: String, of id: String, _ audio: Data = TestAudio.wav(seconds: 2), at date: Date
    ) async throws -> TestAnswer {
        let path = "/\(Self.bucket)/260510/\(id)/\(name)"
        return try await send(.put, path, headers: signer().sign("PUT", path, at: date), body: audio)
    }

    package func list(_ verb: String, _ id: String, _ files: [String]) async throws -> TestAnswer {
        let names = files.map { "\"\($0)\"" }.joined(separator: ",")
        let times = files.enumerated().map { #"{"\#($1)":{"st":\#(Double($0) * 9.5),"et":\#(Double($0) * 9.5 + 10)}}"# }
        return try await post(
            "/voice/api/v2/transaction/\(verb)/\(id)",
            #"{"audio_files":[\#(names)],"chunk_info":[\#(times.joined(separator: ","))]}"#
        )
    }

    package func status(_ id: String, _ query: String = "", headers: HTTPFields = [:]) async throws -> TestAnswer {
        try await get("/voice/api/v3/status/\(id)\(query)", headers: headers)
    }

    /// Init, one upload, stop and commit.
    package func consultation(
        _ id: String, _ more: String = "", audio: Data = TestAudio.wav(seconds: 2), at date: Date,
        headers: HTTPFields = [:]
    ) async throws {
        try #require(try await initialise(id, more, headers: headers).status == 201)
        try #require(try await upload("1.m4a", of: id, audio, at: date).status == 200)
        try #require(try await list("stop", id, ["1.m4a"]).status == 200)
        try #require(try await list("commit", id, ["1.m4a"]).status == 200)
    }
}

extension TestClient {
    package func answer(to request: Request) async throws -> TestAnswer {
        let response = try await execute(request)
        return TestAnswer(response.head, response.body)
    }
}

extension HTTPFields {
    package static func + (first: HTTPFields, second: HTTPFields) -> HTTPFields {
        var sum = first
        for field in second { sum[field.name] = field.value }
        return sum
    }
}
