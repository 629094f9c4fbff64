package import Basics
package import Foundation
package import ScribeDomain
import ScribeHTTP
import ScribeRuntime

extension Webhook.Style {
    /// Webhooks of partners, one each, configured by the operator (suki.md section 7).
    package static let suki = Webhook.Style("suki")
}

/// Webhook message for partners about their clinicians' sessions (suki.md section 7).
package struct SukiFormat: WebhookFormat {
    package let style = Webhook.Style.suki
    package let signatureHeader = "X-API-Key"
    package let timeLimit: Duration = .seconds(30)

    package init() {}

    package func name(of event: SessionEvent) -> String? {
        switch event {
        case .completed, .partial: "success"
        case .failed: "failure"
        case .cancelled: "cancelled"
        case .expired: "timeout"
        case .started, .ended: nil
        }
    }

    package func notifies(_ webhook: Webhook, about recording: Transaction) -> Bool {
        recording.request.kind == .ambient && webhook.client == recording.owner.client
    }

    package func detail(of recording: Transaction, visit: () throws -> [TransactionID]) throws -> JSONValue? {
        guard let terms = recording.ambientTerms else { return nil }
        return .object([
            "encounter": .string(terms.encounter),
            "sessions": .array(try visit().map { .string($0.rawValue) }),
            "isSkipped": .bool(recording.processingStatus == .requestFailure),
        ])
    }

    package func body(
        of event: SessionEvent, in session: TransactionID, _ detail: JSONValue?, for webhook: Webhook, at time: Date
    ) -> Data {
        let encounter = detail?["encounter"]?.stringValue ?? session.rawValue
        let sessions = detail?["sessions"]?.arrayValue?.compactMap(\.stringValue)
        let members: JSON =
            switch event {
            case .failed where detail?["isSkipped"] == .bool(true):
                Self.success("skipped", session, encounter, sessions ?? [])
            case .failed: Self.failure("TRANSCRIPTION", "Error in transcription")
            case .cancelled: Self.failure("SESSION_CANCELLED", "Session was cancelled")
            case .expired: Self.failure("SESSION_TIMEOUT", "Session timed out")
            case .started, .ended, .completed, .partial:
                Self.success("completed", session, encounter, sessions ?? [session.rawValue])
            }
        let place: JSON = ["session_id": .string(session.rawValue), "encounter_id": .string(encounter)]
        return encoded(place.adding(members))
    }

    private static func failure(_ code: String, _ detail: String) -> JSON {
        ["status": "failure", "error_code": "ERROR_CODE_\(code)", "error_detail": .string(detail)]
    }

    private static func success(
        _ status: String, _ id: TransactionID, _ encounter: String, _ sessions: [String]
    ) -> JSON {
        let session = "/api/v1/ambient/session/\(PercentEncoding.encode(id.rawValue, keepingSlashes: false))"
        let visit = "/api/v1/ambient/encounter/\(PercentEncoding.encode(encounter, keepingSlashes: false))"
        let paths = [
            ("contents", "\(session)/content"), ("encounter_content", "\(visit)/content"),
            ("structured_data", "\(session)/structured-data"),
            ("encounter_structured_data", "\(visit)/structured-data"), ("status", "\(session)/status"),
            ("transcripts", "\(session)/transcript"),
        ]
        let links = paths.map { name, path -> JSON.Member in
            (name, [["href": .string(path), "method": "GET", "name": .string(name), "type": "application/json"]])
        }
        return [
            "status": "success", "sessions": .array(sessions, JSON.string),
            "additional_info": ["session_status": .string(status)], "_links": .object(links),
        ]
    }

    package func signature(of body: Data, key: String, at now: Date) -> String {
        WebhookSignature.stamped(of: body, key: key, at: now)
    }

    package func headers(of signature: String) -> [(name: String, value: String)] {
        let words = signature.split(separator: ":").map(String.init)
        return words.count == 2 ? [("generated-at", words[0]), (signatureHeader, words[1])] : []
    }
}
