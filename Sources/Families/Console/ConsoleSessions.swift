import Foundation
import ScribeDomain

/// Sessions of browsers, in memory only: a restart ends them all.
final class ConsoleSessions: Sendable {
    struct Session: Hashable, Sendable {
        /// Token in the head of the session's pages, which its scripts send.
        let token: String
        /// Whether the browser has shown the operators' token, or needs none.
        let isOpen: Bool
        let endsAt: Date
    }

    /// Lifetime of a session, in seconds.
    static let lifetime = 12 * 3600
    /// Most sessions of either kind. Then the oldest one of that kind ends.
    private static let most = 1000

    private let sessions = LockedValue<[String: Session]>([:])

    /// Starts a session.
    /// - Returns: the value of its cookie, and the session.
    func begin(isOpen: Bool, at now: Date, _ random: IdentifierSource) -> (id: String, session: Session) {
        let id = Hex.encode(random.bytes(32))
        let session = Session(
            token: Hex.encode(random.bytes(32)), isOpen: isOpen,
            endsAt: now.addingTimeInterval(TimeInterval(Self.lifetime)))
        sessions.withLock { sessions in
            let alike = sessions.filter { $0.value.isOpen == isOpen }
            if alike.count >= Self.most, let oldest = alike.min(by: { $0.value.endsAt < $1.value.endsAt }) {
                sessions[oldest.key] = nil
            }
            sessions[id] = session
        }
        return (id, session)
    }

    /// The session of a cookie; nil if it has ended, or never was.
    func session(_ id: String, at now: Date) -> Session? {
        sessions.withLock { sessions in
            guard let session = sessions[id] else { return nil }
            guard session.endsAt > now else {
                sessions[id] = nil
                return nil
            }
            return session
        }
    }

    func end(_ id: String) { sessions.withLock { $0[id] = nil } }
}
