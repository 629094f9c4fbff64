import Basics
import Foundation
import HTTPTypes
import ServerTestSupport
import TestSupport
import Testing

@testable import Eka
@testable import S3
@testable import ScribeHTTP
@testable import ScribeServer

/// What the web SDK sends, and what it makes of statuses: it looks at those more than at bodies.
struct WebClient: Sendable {
    static let bucket = "m-prod-voice-record"
    static let origin = "https://doc.eka.care"
    static let pollPause = Duration.seconds(1)
    static let pollTimeLimit: TimeInterval = 120
    /// After this many errors in a row it gives up.
    static let errorLimit = 3

    let session: ClientSession

    /// - Parameter isCurrent: the current SDK has a bearer token, the one before the raw one in a header of its own.
    init(
        _ server: TestScribeClient, _ clock: ManualClock, _ id: String = "dev-client", _ secret: String = "dev-secret",
        isCurrent: Bool = false
    ) async throws {
        session = try await ClientSession(
            server, clock, login: #"{"client_id":"\#(id)","client_secret":"\#(secret)"}"#, refresh: .none
        ) { tokens in
            HTTPFields([
                isCurrent ? ("authorization", "Bearer \(tokens.accessToken)") : ("auth", tokens.accessToken),
                ("client-id", "doc-web"), ("flavour", "web"), ("Origin", Self.origin),
                ("User-Agent", "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/136.0"),
            ])
        }
    }

    static func run(
        isCurrent: Bool = false, _ test: @escaping @Sendable (WebClient) async throws -> Void
    ) async throws {
        let server = try TestServer()
        let clock = server.manual
        try await server.run(.socket) { try await test(WebClient($0, clock, isCurrent: isCurrent)) }
    }

    /// The SDK refreshes nothing; the page around it logs in again.
    func renewToken() async throws {
        session.tokens.set(try await WebClient(session.server, session.clock).session.tokens.value)
    }

    // MARK: Recording

    func start(
        _ id: String, additional: String = "{}", transfer: String? = nil,
        templates: [String] = ["clinical_notes_template"]
    ) async throws -> TestAnswer {
        let wanted = templates.map { #"{"template_id":"\#($0)","codification_needed":false}"# }.joined(separator: ",")
        let place = transfer ?? #""transfer":"vaded","s3_url":"s3://\#(Self.bucket)/260510/\#(id)""#
        return try await session.send(
            .post, "/voice/api/v2/transaction/init/\(id)",
            #"""
            {"mode":"consultation","input_language":["en-IN"],"output_language":"en-IN",\#(place),
             "output_format_template":[\#(wanted)],"model_training_consent":true,"auto_download":false,
             "system_info":{"platform":"Linux","language":"en","hardware_concurrency":8,"device_memory":8,
                            "time_zone":"Asia/Kolkata"},
             "model_type":"pro","version":"2.1.8","encounter_id":"e-1","additional_data":\#(additional),
             "patient_details":{"username":"Asha","oid":"p-1","age":45,"biologicalSex":"F","mobile":"+910000000000"}}
            """#
        )
    }

    /// Names and nothing else.
    func list(_ verb: String, _ id: String, _ files: [String]) async throws -> TestAnswer {
        let names = files.map { "\"\($0)\"" }.joined(separator: ",")
        return try await session.send(.post, "/voice/api/v2/transaction/\(verb)/\(id)", #"{"audio_files":[\#(names)]}"#)
    }

    // MARK: Uploads

    func signer() async throws -> RequestSigner {
        let answer = try await session.send(.get, "/voice/api/v1/s3-token/")
        try #require(answer.status == 200)
        return RequestSigner(
            accessKeyID: try answer["credentials.AccessKeyId"],
            secretKey: try answer["credentials.SecretKey"],
            sessionToken: try answer["credentials.SessionToken"],
            host: "\(Self.bucket).s3.ap-south-1.amazonaws.com"
        )
    }

    func upload(
        _ name: String, of id: String, with signer: RequestSigner, audio: Data? = nil
    ) async throws -> TestAnswer {
        let path = "/260510/\(id)/\(name)"
        let headers = signer.sign(
            "PUT", path, at: session.clock.now, extra: [("x-amz-meta-bid", "b-demo"), ("x-amz-meta-txnid", id)]
        )
        return try await session.server.send(
            .put, path, host: signer.host,
            headers: headers + HTTPFields([("Content-Type", "audio/mpeg"), ("Origin", Self.origin)]),
            body: audio ?? TestAudio.chunk(name)
        )
    }

    /// Init, uploads, stop and commit, each with the one status that the SDK takes.
    func record(
        _ id: String, additional: String = "{}", templates: [String] = ["clinical_notes_template"]
    ) async throws {
        try #require(try await start(id, additional: additional, templates: templates).status < 400)
        let signer = try await signer()
        for name in ["1.mp3", "2.mp3"] {
            try #require(try await upload(name, of: id, with: signer).status == 200)
        }
        for verb in ["stop", "commit"] {
            try #require(try await list(verb, id, ["1.mp3", "2.mp3"]).status == 200)
        }
    }

    /// Without a flavour, and with an empty object.
    func presignedPost(_ id: String) async throws -> (post: PresignedPost, answer: TestAnswer) {
        let headers = session.headers(session.tokens.value).filter { $0.name != .flavour }
        let answer = try await session.server.send(
            .post, "/v1/file-upload?txn_id=\(id)&action=ekascribe-v2", host: session.host,
            headers: HTTPFields(headers.map { ($0.name.rawName, $0.value) } + [("Content-Type", "application/json")]),
            body: Data("{}".utf8)
        )
        return (try answer.decoded(status: 200), answer)
    }

    // MARK: Results

    enum Outcome {
        case success(TestAnswer)
        case failed(String)
        case timedOut

        var success: TestAnswer? {
            if case .success(let answer) = self { answer } else { nil }
        }

        var failed: String? {
            if case .failed(let reason) = self { reason } else { nil }
        }
    }

    /// 202, 400 and 5xx are not the end until errors come three times in a row; 401 and 403 are the end; **everything
    /// else is success**.
    func poll(_ id: String, _ query: String = "", holds: [Duration] = []) async throws -> Outcome {
        let start = session.clock.now
        var errors = 0
        var attempt = 0
        while session.clock.now.timeIntervalSince(start) < Self.pollTimeLimit {
            if attempt > 0 { session.clock.advance(by: Self.pollPause) }
            let hold = holds.indices.contains(attempt) ? holds[attempt] : nil
            attempt += 1
            let answer = try await session.clock.letting(pass: hold) { try await status(id, query) }
            switch answer.status {
            case 202: errors = 0
            case 401, 403: return .failed("unauthorised")
            case 400, 500...:
                errors += 1
                if errors == Self.errorLimit { return .failed(try answer["error.message"]) }
            default: return .success(answer)
            }
        }
        return .timedOut
    }

    func status(_ id: String, _ query: String = "") async throws -> TestAnswer {
        try await session.send(.get, "/voice/api/v3/status/\(id)\(query)")
    }
}

extension TestAnswer {
    /// The array at that path, empty when there is none.
    func list(_ path: String...) -> [JSONValue] { list(path) }

    /// The member of that name of each element of an array.
    func texts(_ name: String, of path: String...) -> [String?] { list(path).map { $0[name]?.stringValue } }

    private func list(_ path: [String]) -> [JSONValue] {
        guard case .array(let items)? = path.reduce(Optional(json), { value, name in value?[name] }) else { return [] }
        return items
    }
}
