import Foundation
import HTTPTypes
import ScribeHTTP
import TestSupport
import Testing

/// The session protocol as its SDKs speak it (medscribe.md section 4).
extension TestScribeClient {
    package static let sessions = "/voice/v1/sessions"

    /// - Returns: the session's id.
    package func session(_ more: String = "", _ uploadType: String = "chunked") async throws -> String {
        let answer = try await post(Self.sessions, #"{"upload_type":"\#(uploadType)"\#(more)}"#)
        try #require(answer.status == 201)
        return try answer["session_id"]
    }

    package func sendAudio(
        _ name: String, to session: String, _ audio: Data = TestAudio.wav(seconds: 2), type: String = "audio/wav"
    ) async throws -> TestAnswer {
        try await send(
            .post, "\(Self.sessions)/\(session)/audio/\(name)", headers: [.contentType: type], body: audio)
    }

    package func end(_ session: String, _ body: String = "") async throws -> TestAnswer {
        try await send(
            .post, "\(Self.sessions)/\(session)/end", headers: [.contentType: "application/json"],
            body: Data(body.utf8))
    }

    package func read(_ session: String, _ query: String = "") async throws -> TestAnswer {
        try await get("\(Self.sessions)/\(session)\(query)")
    }
}
