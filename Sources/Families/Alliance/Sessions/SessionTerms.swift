import Basics
package import Foundation
package import ScribeDomain

extension RecordingKind {
    /// Recordings that the session protocol started.
    package static let session = RecordingKind("session")
}

extension TransactionRequest {
    /// Request of a protocol session, with the protocol's defaults and without a place of its audio (medscribe.md 2.1).
    init(session uploadType: UploadType) {
        self.init(
            transfer: uploadType == .single ? .nonVaded : .vaded, mode: "consultation", modelType: "pro",
            kind: .session, terms: .object(["uploadType": .string(uploadType.rawValue)]), intake: .arrived)
    }

    /// Upload type of a protocol session; chunks for another kind of transaction. The name among the stored terms never
    /// changes.
    var sessionUploadType: UploadType {
        guard kind == .session else { return .chunked }
        return terms["uploadType"]?.stringValue.flatMap(UploadType.init(rawValue:)) ?? .chunked
    }
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
        request.sessionUploadType
    }
}
