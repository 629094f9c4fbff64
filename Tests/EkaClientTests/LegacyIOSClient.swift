import Foundation
import HTTPTypes
import ServerTestSupport
import TestSupport
import Testing

@testable import Eka
@testable import S3
@testable import ScribeHTTP
@testable import ScribeServer

/// What the older iOS SDK sends, when it does, and what it makes of the answers.
struct LegacyIOSClient: Sendable {
    static let bucket = "m-prod-voice-record"
    static let pollPause = Duration.seconds(15)
    static let emptyAnswerLimit = 3

    let session: ClientSession

    /// - Parameter flavour: `io` on a phone, `ip` on a tablet.
    init(
        _ server: TestScribeClient, _ clock: ManualClock, _ id: String = "dev-client", _ secret: String = "dev-secret",
        flavour: String = "io"
    ) async throws {
        session = try await ClientSession(
            server, clock, login: #"{"client_id":"\#(id)","client_secret":"\#(secret)"}"#, refresh: .withBothTokens
        ) { tokens in
            HTTPFields([
                ("auth", tokens.accessToken), ("client-id", flavour == "io" ? "doctor-app-ios" : "doctor-ipad-ios"),
                ("flavour", flavour), ("Content-Type", "application/json"), ("locale", "en"), ("make", "Apple"),
                ("version", "3.2.1"), ("device-id", "5B0F3F5E-6F0A-4A53-9F5E-1F6A4F0F8B11"),
                ("User-Agent", "Doctor/3.2.1 (com.example.doctor; build:1; iOS 17.0.0) Alamofire/5.9.1"),
            ])
        }
    }

    static func run(
        flavour: String = "io", _ test: @escaping @Sendable (LegacyIOSClient) async throws -> Void
    ) async throws {
        let server = try TestServer()
        let clock = server.manual
        try await server.run(.socket) { try await test(LegacyIOSClient($0, clock, flavour: flavour)) }
    }

    /// One refresh, by the same way as every request.
    func refresh(_ tokens: ClientSession.Tokens) async throws -> TestAnswer {
        try await session.server.send(
            .post, "/connect-auth/v1/account/refresh-token", host: session.host, headers: session.headers(tokens),
            body: Data(#"{"refresh_token":"\#(tokens.refreshToken)","access_token":"\#(tokens.accessToken)"}"#.utf8)
        )
    }

    // MARK: Recording

    /// - Parameter fixture: the tests' own word, in the part of the request that belongs to the host app.
    func start(_ id: String, fixture: String? = nil) async throws -> TestAnswer {
        let wish = fixture.map { #","fixture":"fixture:\#($0)""# } ?? ""
        return try await session.send(
            .post, "/voice/api/v2/transaction/init/\(id)",
            #"""
            {"mode":"consultation","transfer":"vaded","s3_url":"s3://\#(Self.bucket)/260510/\#(id)",
             "input_language":["en-IN"],"model_type":"pro",
             "output_format_template":[{"template_id":"clinical_notes_template","template_name":"Clinical Notes",
                                        "template_type":"default"}],
             "patient_details":{"oid":"p-1","age":45,"biologicalSex":"M","username":"Asha"},
             "additional_data":{"doctor":{"_id":"d-1","profile":{"personal":{"name":{"l":"Rao","f":"Meera"}}}},
                                "patient":{"id":"p-1","profile":{"personal":{"name":{"l":"K","f":"Asha"}}}},
                                "visitid":"v-1"\#(wish)}}
            """#
        )
    }

    /// Times are strings, in stop and again in commit.
    func list(_ verb: String, _ id: String, _ files: [String]) async throws -> TestAnswer {
        let names = files.map { "\"\($0)\"" }.joined(separator: ",")
        let times = files.enumerated().map { position, name in
            #"{"\#(name)":{"st":"\#(Double(position) * 9.5)","et":"\#(Double(position) * 9.5 + 10)"}}"#
        }
        return try await session.send(
            .post, "/voice/api/v2/transaction/\(verb)/\(id)",
            #"{"audio_files":[\#(names)],"chunk_info":[\#(times.joined(separator: ","))]}"#
        )
    }

    // MARK: Uploads

    func credentials() async throws -> LegacyIOS.Credentials {
        try await session.send(.get, "/credentials", host: "cog.eka.care").decoded(status: 200)
    }

    /// One query-signed PUT that calls an m4a `audio/wav`, with the host app's idea of the business.
    func upload(
        _ name: String, of id: String, with keys: LegacyIOS.Credentials, audio: Data? = nil
    ) async throws -> TestAnswer {
        let host = "\(Self.bucket).s3-ap-south-1.amazonaws.com"
        let signer = RequestSigner(
            accessKeyID: keys.credentials.accessKeyID, secretKey: keys.credentials.secretKey,
            sessionToken: keys.credentials.sessionToken, host: host
        )
        let type = name.hasSuffix(".m4a") || name.hasSuffix(".m4a_") ? "audio/wav" : "application/json"
        let signed = [("content-type", type), ("x-amz-meta-bid", "of-the-host-app"), ("x-amz-meta-txnid", id)]
        let url = signer.presign("PUT", "/260510/\(id)/\(name)", at: session.clock.now, extra: signed)
        return try await session.server.send(
            .put, url, host: host, headers: HTTPFields(signed + [("User-Agent", "aws-sdk-iOS/2.33.4 iOS/17.0 en")]),
            body: audio ?? TestAudio.chunk(name)
        )
    }

    /// Init, credentials, uploads, stop and commit.
    func record(
        _ id: String, chunks: [(name: String, audio: Data)] = [("1.m4a", TestAudio.m4a(seconds: 10))],
        fixture: String? = nil
    ) async throws {
        try #require(try await start(id, fixture: fixture).isSuccess)
        let keys = try await credentials()
        for chunk in chunks {
            try #require(try await upload(chunk.name, of: id, with: keys, audio: chunk.audio).status == 200)
        }
        try #require(try await list("stop", id, chunks.map(\.name)).status == 200)
        try #require(try await list("commit", id, chunks.map(\.name)).status == 200)
    }

    // MARK: Results

    enum Outcome {
        case complete([LegacyIOS.Result.Item])
        case failed
        /// Three answers without a result.
        case empty

        var complete: [LegacyIOS.Result.Item]? {
            if case .complete(let items) = self { items } else { nil }
        }
    }

    /// Asks after 15 s and every 15 s. A list is the end: complete when all in it succeeded, else the next poll fails.
    func poll(_ id: String, holds: [Duration] = []) async throws -> Outcome {
        var emptyAnswers = 0
        while true {
            session.clock.advance(by: Self.pollPause)
            let hold = holds.indices.contains(emptyAnswers) ? holds[emptyAnswers] : nil
            let answer = try await session.clock.letting(pass: hold, hasJob: false) { try await status(id) }
            guard answer.isSuccess else { return .failed }
            let result: LegacyIOS.Result = try answer.decoded()
            if let items = result.items {
                return items.allSatisfy { $0.status == "success" } ? .complete(items) : .failed
            }
            emptyAnswers += 1
            if emptyAnswers == Self.emptyAnswerLimit { return .empty }
        }
    }

    func status(_ id: String) async throws -> TestAnswer { try await session.send(.get, "/voice/api/v3/status/\(id)") }
}
