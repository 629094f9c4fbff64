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

/// The answers as the .NET SDK types them.
enum DotNet {
    struct Result: Decodable {
        struct Payload: Decodable {
            let output: [Item]?
            let additionalData: [String: JSONValue]?
            let createdAt: String?
        }

        struct Item: Decodable {
            let templateId: String?
            let name: String?
            let type: String?
            let status: String?
            let value: String?
            /// Texts; an object among them fails every poll.
            let errors: [String]?
            let warnings: [String]?
        }

        let data: Payload?
    }
}

/// What the .NET SDK sends: files first, then init, then polls for five minutes.
struct DotNetClient: Sendable {
    static let pollPause = Duration.seconds(5)
    static let pollLimit = 60

    let session: ClientSession

    init(_ server: TestScribeClient, _ clock: ManualClock) async throws {
        session = try await ClientSession(
            server, clock, login: #"{"client_id":"dev-client","client_secret":"dev-secret","sharing_key":""}"#,
            refresh: .withBothTokens
        ) { tokens in
            HTTPFields([
                ("Authorization", "Bearer \(tokens.accessToken)"), ("User-Agent", "EkaCare-DotNet-SDK/1.0"),
            ])
        }
    }

    static func run(_ test: @escaping @Sendable (DotNetClient) async throws -> Void) async throws {
        let server = try TestServer()
        let clock = server.manual
        try await server.run(.socket) { try await test(DotNetClient($0, clock)) }
    }

    /// Without a transaction's id and without a body: the server thinks of one.
    func presignedPost() async throws -> PresignedPost {
        let answer = try await session.send(.post, "/v1/file-upload?action=ekascribe-v2")
        try #require(answer.isSuccess, "\(answer.text)")
        return try answer.decoded()
    }

    func upload(_ name: String, to post: PresignedPost, audio: Data) async throws -> TestAnswer {
        let form = MultipartForm(
            dialect: .dotnet, fields: post.fieldsAfterKey(post.folderPath + name), name: name, data: audio
        )
        return try await form.send(to: post.uploadData.url, through: session.server)
    }

    func start(_ post: PresignedPost, files: [String], additional: String = "{}") async throws -> TestAnswer {
        let names = files.map { "\"\($0)\"" }.joined(separator: ",")
        return try await session.send(
            .post, "/voice/api/v2/transaction/init/\(post.txnId)",
            #"""
            {"mode":"dictation","transfer":"non-vaded","batch_s3_url":"\#(post.uploadData.url)\#(post.folderPath)",
             "additional_data":\#(additional),"client_generated_files":[\#(names)],"model_type":"pro",
             "input_language":["en-IN"],"output_language":"en-IN","speciality":"general_medicine",
             "output_format_template":[{"template_id":"clinical_notes_template","template_type":"default",
                                        "template_name":"Clinical Notes","codification_needed":true}]}
            """#,
            more: [.contentType: "application/json; charset=utf-8"]
        )
    }

    /// One recording from file to transaction.
    func record(additional: String = "{}", audio: Data = TestAudio.m4a(seconds: 30)) async throws -> String {
        let post = try await presignedPost()
        try #require(try await upload("visit.m4a", to: post, audio: audio).status == 204)
        try #require(try await start(post, files: ["visit.m4a"], additional: additional).isSuccess)
        return post.txnId
    }

    /// Goes on after anything but a list whose items all have one of two words; nil after five minutes.
    func poll(_ id: String, holds: [Duration] = []) async throws -> DotNet.Result? {
        for attempt in 0..<Self.pollLimit {
            if attempt > 0 { session.clock.advance(by: Self.pollPause) }
            let hold = holds.indices.contains(attempt) ? holds[attempt] : nil
            let answer = try await session.clock.letting(pass: hold) {
                try await session.send(.get, "/voice/api/v3/status/\(id)")
            }
            guard answer.isSuccess, let result = try? answer.decoded(as: DotNet.Result.self),
                let items = result.data?.output, !items.isEmpty,
                items.allSatisfy({ $0.status == "success" || $0.status == "failed" })
            else { continue }
            return result
        }
        return nil
    }
}
