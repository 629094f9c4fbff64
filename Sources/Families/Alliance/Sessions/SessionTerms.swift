import Basics
package import Foundation
package import ScribeDomain

extension RecordingKind {
    /// Recordings that the session protocol started.
    package static let session = RecordingKind("session")
}

/// Starting terms of a protocol session, beside those of any transaction (medscribe.md 2.1).
struct SessionTerms: Hashable, Sendable {
    let uploadType: UploadType

    init(uploadType: UploadType) { self.uploadType = uploadType }

    /// Decodes stored terms of a protocol session; nil for an unknown shape. The names never change.
    init?(stored json: JSONValue) {
        guard let word = json["uploadType"]?.stringValue, let uploadType = UploadType(rawValue: word) else {
            return nil
        }
        self.uploadType = uploadType
    }

    /// Terms of a transaction; nil for one that was not started as a protocol session.
    init?(of request: TransactionRequest) {
        guard request.kind == .session else { return nil }
        self.init(stored: request.terms)
    }

    var stored: JSONValue { .object(["uploadType": .string(uploadType.rawValue)]) }
}

extension UploadType {
    /// The upload type as clients name its transport: `websocket` or `http`.
    var protocolName: String { self == .stream ? "websocket" : "http" }
}

/// Recording policy of protocol sessions: lifetime, room at start and upload type, for shared code.
package struct SessionPolicy: RecordingPolicy {
    /// Default lifetime of a protocol session, in seconds from its start (medscribe.md section 3).
    package static let usualLifetime: TimeInterval = 60 * 60
    /// Time for which a session stays open after its last audio, in seconds: as long as its forms are valid. Visits of
    /// more than an hour keep their audio.
    private static let timeAfterAudio: TimeInterval = 3 * 60 * 60

    package let kind = RecordingKind.session
    package let title = "Session"
    package let lifetime: RecordingLifetime?
    /// A session without room for its audio is refused at its start, before the client records.
    package let needsRoomAtStart = true

    /// - Parameter isStrict: whether a session ends an hour after its start, as the vendor documents it
    ///   (`--strict-docs`).
    package init(lifetime: TimeInterval = usualLifetime, isStrict: Bool = false) {
        self.lifetime = RecordingLifetime(
            lifetime, afterAudio: isStrict ? nil : max(lifetime, Self.timeAfterAudio))
    }

    package func uploadType(of request: TransactionRequest) -> UploadType {
        SessionTerms(of: request)?.uploadType ?? .chunked
    }
}
