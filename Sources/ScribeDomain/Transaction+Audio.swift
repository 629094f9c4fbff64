package import Foundation

/// Whether a recording still takes audio, for every door by which audio comes. Ambient sessions have a rule of their own:
/// ``Transaction/requireOpenAmbient(at:lifetime:)``.
extension Transaction {
    /// - Throws: ``ScribeError/invalidState(_:)`` once recording has ended.
    package static func requireOpen(_ status: UserStatus) throws(ScribeError) {
        guard status.isOpen else { throw .invalidState("The transaction takes no more audio") }
    }

    /// The rule of protocol sessions: their time is limited, and a refusal says whether results exist.
    /// - Parameters:
    ///   - begun: when the session was created.
    ///   - lifetime: how long a session may be open, in seconds.
    /// - Throws: ``ScribeError/sessionEnded``, ``ScribeError/sessionCompleted``, ``ScribeError/sessionExpired``.
    package static func requireOpenSession(
        _ status: UserStatus, _ processing: ProcessingStatus, begun: Date, at now: Date, lifetime: TimeInterval
    ) throws(ScribeError) {
        guard status.isOpen else {
            throw [.inProgress, .cancelled].contains(processing) ? .sessionEnded : .sessionCompleted
        }
        guard now.timeIntervalSince(begun) < lifetime else { throw .sessionExpired }
    }
}
