package import Foundation
package import ScribeDomain
import ScribeHTTP
import ScribeRuntime

/// What partners are told of their clinicians' sessions (suki.md section 7).
package struct SukiFormat: WebhookFormat {
    package let signatureHeader = "X-API-Key"
    package let timeLimit: Duration = .seconds(30)

    package init() {}

    package func body(
        of event: SessionEvent, in session: TransactionID, _ detail: EventDetail?, for webhook: Webhook, at time: Date
    ) throws -> Data {
        let encounter = detail?.encounter ?? session.rawValue
        switch event {
        case .failed where detail?.isSkipped == true:
            return try encoded(Success(session, encounter, detail?.sessions ?? [], status: "skipped"))
        case .failed: return try encoded(Failure(session, encounter, "TRANSCRIPTION", "Error in transcription"))
        case .cancelled: return try encoded(Failure(session, encounter, "SESSION_CANCELLED", "Session was cancelled"))
        case .expired: return try encoded(Failure(session, encounter, "SESSION_TIMEOUT", "Session timed out"))
        case .started, .ended, .completed, .partial:
            return try encoded(Success(session, encounter, detail?.sessions ?? [session.rawValue], status: "completed"))
        }
    }

    package func signature(of body: Data, key: String, at now: Date) -> String {
        WebhookSignature.stamped(of: body, key: key, at: now)
    }

    package func headers(of signature: String) -> [(name: String, value: String)] {
        let words = signature.split(separator: ":").map(String.init)
        return words.count == 2 ? [("generated-at", words[0]), (signatureHeader, words[1])] : []
    }
}

private struct Failure: Encodable {
    let status = "failure"
    let session: String
    let encounter: String
    let code: String
    let detail: String

    enum CodingKeys: String, CodingKey {
        case status
        case session = "session_id"
        case encounter = "encounter_id"
        case code = "error_code"
        case detail = "error_detail"
    }

    init(_ session: TransactionID, _ encounter: String, _ code: String, _ detail: String) {
        self.session = session.rawValue
        self.encounter = encounter
        self.code = "ERROR_CODE_\(code)"
        self.detail = detail
    }
}

private struct Success: Encodable {
    struct Link: Encodable {
        let href: String
        let method = "GET"
        let name: String
        let type = "application/json"
    }

    struct Information: Encodable {
        let status: String

        enum CodingKeys: String, CodingKey { case status = "session_status" }
    }

    let status = "success"
    let session: String
    let encounter: String
    let sessions: [String]
    let information: Information
    let links: [String: [Link]]

    enum CodingKeys: String, CodingKey {
        case status, sessions
        case session = "session_id"
        case encounter = "encounter_id"
        case information = "additional_info"
        case links = "_links"
    }

    init(_ id: TransactionID, _ encounter: String, _ sessions: [String], status: String) {
        session = id.rawValue
        self.encounter = encounter
        self.sessions = sessions
        information = Information(status: status)
        let session = "/api/v1/ambient/session/\(PercentEncoding.encode(id.rawValue, keepingSlashes: false))"
        let visit = "/api/v1/ambient/encounter/\(PercentEncoding.encode(encounter, keepingSlashes: false))"
        let paths = [
            "contents": "\(session)/content", "encounter_content": "\(visit)/content",
            "structured_data": "\(session)/structured-data",
            "encounter_structured_data": "\(visit)/structured-data", "status": "\(session)/status",
            "transcripts": "\(session)/transcript",
        ]
        links = Dictionary(uniqueKeysWithValues: paths.map { name, path in (name, [Link(href: path, name: name)]) })
    }
}
