import Foundation
import HTTPTypes
import ServerTestSupport
import TestSupport
import Testing

@testable import Eka
@testable import S3
@testable import ScribeHTTP
@testable import ScribeServer

/// What the Python SDK sends, and which answers it takes.
struct PythonClient: Sendable {
    /// It raises on every answer that is not 2xx, and on an init that is not 201.
    struct Refused: Error {
        let answer: TestAnswer
    }

    let session: ClientSession

    init(_ server: TestScribeClient, _ clock: ManualClock) async throws {
        session = try await ClientSession(
            server, clock, login: #"{"client_id": "dev-client", "client_secret": "dev-secret"}"#, refresh: .older
        ) { tokens in
            HTTPFields([
                ("User-Agent", "python-requests/2.32.3"), ("Accept-Encoding", "gzip, deflate"), ("Accept", "*/*"),
                ("Connection", "keep-alive"), ("Authorization", "Bearer \(tokens.accessToken)"),
                ("client-id", "dev-client"),
            ])
        }
    }

    static func run(_ test: @escaping @Sendable (PythonClient) async throws -> Void) async throws {
        let server = try TestServer()
        let clock = server.manual
        try await server.run(.socket) { try await test(PythonClient($0, clock)) }
    }

    func send(_ method: HTTPRequest.Method, _ path: String, _ body: String? = nil) async throws -> TestAnswer {
        let answer = try await session.send(method, path, body)
        guard answer.isSuccess else { throw Refused(answer: answer) }
        return answer
    }

    /// With the caller's extra data as the body.
    func presignedPost(
        _ id: String, action: String = "default",
        extra: String = #"{"mode": "dictation", "model_type": "pro", "uhid": "U-1", "hfid": "H-1"}"#
    ) async throws -> (post: PresignedPost, answer: TestAnswer) {
        let answer = try await send(.post, "/v1/file-upload?txn_id=\(id)&action=\(action)", extra)
        return (try answer.decoded(), answer)
    }

    func upload(
        _ name: String, to post: PresignedPost, _ answer: TestAnswer, type: String? = "audio/mpeg",
        data: Data = TestAudio.mp3(seconds: 30)
    ) async throws -> TestAnswer {
        let form = MultipartForm(
            dialect: .python, fields: post.fields(of: answer, key: post.folderPath + name), name: name, type: type,
            data: data
        )
        return try await form.send(to: post.uploadData.url, through: session.server)
    }

    /// Nulls for what the caller has left out, no model, and files by their whole names.
    func start(
        _ id: String, _ post: PresignedPost, bucket: String?, files: [String], additional: String = "null",
        hasSlash: Bool = true
    ) async throws -> TestAnswer {
        let folder = "s3://\(bucket ?? "None")/\(post.folderPath)"
        let place = hasSlash ? folder : String(folder.dropLast())
        let names = files.map { "\"\(folder)\($0)\"" }.joined(separator: ", ")
        let answer = try await session.send(
            .post, "/voice/api/v2/transaction/init/\(id)",
            #"""
            {"mode": null, "transfer": "non-vaded", "batch_s3_url": "\#(place)", "s3_url": "\#(place)",
             "additional_data": \#(additional), "input_language": null, "speciality": null, "Section": null,
             "output_format_template": [{"template_id": "clinical_notes_template", "language_output": "en-IN"}],
             "client_generated_files": [\#(names)]}
            """#
        )
        guard answer.status == 201 else { throw Refused(answer: answer) }
        return answer
    }

    func result(_ id: String) async throws -> TestAnswer { try await send(.get, "/voice/api/v3/status/\(id)") }
}
