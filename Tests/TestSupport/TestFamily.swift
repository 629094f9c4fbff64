import Basics
import Foundation
package import ScribeDomain

extension Webhook.Style {
    /// Told of everything but cancellations, as `session.<event>`.
    package static let usual = Webhook.Style("usual")
    /// Told of what was completed, as `v2rx.completed`; takes an endpoint once.
    package static let once = Webhook.Style("once")
}

extension RecordingKind {
    package static let session = RecordingKind("session")
}

/// The names of events in ``ScribeDomain/Webhook/Style/usual``.
package struct UsualVocabulary: EventVocabulary {
    package let style = Webhook.Style.usual

    package init() {}

    package func name(of event: SessionEvent) -> String? {
        event == .cancelled ? nil : "session.\(event.rawValue)"
    }
}

/// The names of events in ``ScribeDomain/Webhook/Style/once``.
package struct OnceVocabulary: EventVocabulary {
    package let style = Webhook.Style.once
    package let requiresUniqueEndpoint = true

    package init() {}

    package func name(of event: SessionEvent) -> String? {
        [.completed, .partial].contains(event) ? "v2rx.completed" : nil
    }
}

/// Recordings that have to be ended within an hour.
package struct TestSessionPolicy: RecordingPolicy {
    package static let time = RecordingLifetime(3600)

    package let kind = RecordingKind.session
    package let title = "Session"
    package let lifetime: RecordingLifetime? = time
    package let needsRoomAtStart = true

    package init() {}
}

extension TransactionRequest {
    /// As a family starts a session: its audio is what has come when it ends.
    package static func session(
        _ id: String, bucket: String = "bucket", folder: String? = nil, fixture: String? = nil
    ) -> TransactionRequest {
        TransactionRequest(
            transfer: .vaded, mode: "consultation", audioURL: "s3://\(bucket)/\(folder ?? "sessions/\(id)")",
            additionalData: fixture.map { .object(["fixture": .string("fixture:\($0)")]) }, kind: .session,
            intake: .arrived)
    }
}
