import Basics
import Crypto
import Foundation
import ScribeHTTP
import ScribeRuntime

/// Sessions of browsers. They are kept in memory only, so that a restart ends them all.
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
    /// Most open sessions. Then the oldest one ends.
    private static let most = 1000

    private let sessions = LockedValue<[String: Session]>([:])
    /// Signs the sessions that are not open, which have no row: any number of strangers may have one.
    private let key: SymmetricKey

    init(_ random: IdentifierSource = .random) { key = SymmetricKey(data: random.bytes(32)) }

    /// Starts a session.
    /// - Returns: the value of its cookie, and the session.
    func begin(isOpen: Bool, at now: Date, _ random: IdentifierSource) -> (id: String, session: Session) {
        let endsAt = now.addingTimeInterval(TimeInterval(Self.lifetime))
        guard isOpen else {
            let text = "\(Int(saturating: endsAt.timeIntervalSince1970))-\(Hex.encode(random.bytes(16)))"
            let id = "\(text)-\(mac(of: "id \(text)"))"
            return (id, Session(token: mac(of: "token \(text)"), isOpen: false, endsAt: endsAt))
        }
        let id = random.secret()
        let session = Session(token: random.secret(), isOpen: true, endsAt: endsAt)
        sessions.withLock { sessions in
            if sessions.count >= Self.most, let oldest = sessions.min(by: { $0.value.endsAt < $1.value.endsAt }) {
                sessions[oldest.key] = nil
            }
            sessions[id] = session
        }
        return (id, session)
    }

    /// The session of a cookie; nil if it has ended, or never was.
    func session(_ id: String, at now: Date) -> Session? {
        if let session = sessions.withLock({ $0[id] }) {
            if session.endsAt > now { return session }
            end(id)
            return nil
        }
        let parts = id.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 3, let seconds = Int(parts[0]) else { return nil }
        let text = "\(parts[0])-\(parts[1])"
        let endsAt = Date(timeIntervalSince1970: TimeInterval(seconds))
        guard endsAt > now, OperatorRequest.areEqual(mac(of: "id \(text)"), String(parts[2])) else { return nil }
        return Session(token: mac(of: "token \(text)"), isOpen: false, endsAt: endsAt)
    }

    func end(_ id: String) { sessions.withLock { $0[id] = nil } }

    private func mac(of text: String) -> String {
        Hex.encode(HMAC<SHA256>.authenticationCode(for: Data(text.utf8), using: key))
    }
}
