package import Foundation
package import ScribeDomain

extension RecordingKind {
    /// By the session protocol.
    package static let session = RecordingKind("session")
}

/// What a session was started with, beside what any transaction is (medscribe.md 2.1).
struct SessionTerms: Hashable, Sendable {
    let uploadType: UploadType

    init(uploadType: UploadType) { self.uploadType = uploadType }

    /// As they are stored. The names never change. Earlier versions kept the templates here too, which the request has.
    init?(stored json: JSONValue) {
        guard let word = json["uploadType"]?.stringValue, let uploadType = UploadType(rawValue: word) else {
            return nil
        }
        self.uploadType = uploadType
    }

    /// nil for what was not started as a session.
    init?(of request: TransactionRequest) {
        guard request.kind == .session else { return nil }
        self.init(stored: request.terms)
    }

    var stored: JSONValue { .object(["uploadType": .string(uploadType.rawValue)]) }
}

extension UploadType {
    /// As the protocol's clients call the way in which they talk.
    var protocolName: String { self == .stream ? "websocket" : "http" }
}

/// What shared code must know of sessions.
package struct SessionPolicy: RecordingPolicy {
    /// How long after its beginning a session may still be ended, as its clients are told (medscribe.md section 3).
    package static let usualLifetime: TimeInterval = 60 * 60

    package let kind = RecordingKind.session
    package let lifetime: TimeInterval?
    /// The client is told before it records what there is no room for.
    package let needsRoomAtStart = true

    package init(lifetime: TimeInterval = usualLifetime) { self.lifetime = lifetime }

    package func uploadType(of request: TransactionRequest) -> UploadType {
        SessionTerms(of: request)?.uploadType ?? .chunked
    }
}
