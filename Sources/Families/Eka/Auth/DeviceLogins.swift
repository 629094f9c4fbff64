import Foundation
import ScribeDomain

/// Those who log in on a machine without a form: a code is shown there, and somebody who is logged in approves it (RFC
/// 8628). Nothing of it outlives the server: it is over in ten minutes.
final class DeviceLogins: Sendable {
    /// In seconds.
    static let lifetime = 600.0
    /// In seconds, from one question to the next.
    static let interval = 5.0
    /// How many may be in progress, in all and of one client's address.
    private static let most = 1000
    private static let mostOfAddress = 20
    /// Without vowels, and without what looks alike.
    private static let alphabet = Array("BCDFGHJKMNPQRSTVWXZ23456789")
    private static let userCodeLength = 8

    enum Refusal: String, Error, Hashable {
        case unknown = "invalid_device_code"
        case expired = "expired_token"
        case tooFast = "slow_down"
        case pending = "authorization_pending"
        case denied = "access_denied"
        case invalidUserCode = "invalid_user_code"
        case userCodeNotFound = "code_not_found"
        case invalidRedirect = "invalid_redirect_uri"

        var message: String {
            switch self {
            case .unknown: "Unknown device code"
            case .expired: "The login has expired, start again on the device"
            case .tooFast: "Ask again later: every 5 seconds is enough"
            case .pending: "Nobody has approved the code yet"
            case .denied: "The login was denied"
            case .invalidUserCode: "That is no code: it has eight letters and digits"
            case .userCodeNotFound: "The code is unknown, expired, or used already"
            case .invalidRedirect: "redirect_uri must be the app's own scheme, or http on loopback"
            }
        }
    }

    private enum State {
        case pending, denied
        case approved(ClientID)
    }

    private struct Login {
        let userCode: String
        let redirect: String?
        /// By the machine's clock.
        let expiresAt: Date
        /// Of the world's clock when it began, in seconds.
        let offset: TimeInterval
        let address: String
        /// One more than the login before it.
        let number: Int
        var state: State
        var lastAsked: Date?
    }

    /// By their device codes.
    private typealias Logins = [String: Login]

    private let logins = LockedValue<Logins>([:])
    private let identifiers: IdentifierSource
    private let clock: WorldClock

    init(identifiers: IdentifierSource, clock: WorldClock) {
        self.identifiers = identifiers
        self.clock = clock
    }

    /// Begins one. Whoever begins too many ends the oldest of them: nobody else's login is ended, and nobody is refused.
    /// - Parameters:
    ///   - approver: who has approved it from the start, nil where somebody must.
    ///   - address: of its client, see ``TrustedProxies/client(of:_:)``.
    /// - Returns: the code to show; nil where no code is free.
    func begin(
        deviceCode: String, redirect: String?, approvedBy approver: ClientID?, from address: String
    ) -> String? {
        let (now, offset) = (clock.wall.now, clock.offset)
        return logins.withLock { logins in
            logins = logins.filter { $0.value.expiresAt > now }
            let taken = Set(logins.values.map(\.userCode))
            let userCode = (0..<5).lazy.map { _ in self.newUserCode() }.first { !taken.contains($0) }
            guard let userCode else { return nil }
            Self.makeRoom(for: address, in: &logins)
            logins[deviceCode] = Login(
                userCode: userCode, redirect: redirect, expiresAt: now.addingTimeInterval(Self.lifetime),
                offset: offset, address: address, number: (logins.values.map(\.number).max() ?? 0) + 1,
                state: approver.map(State.approved) ?? .pending)
            return userCode
        }
    }

    /// Ends the oldest login of an address that has as many as it may have, or of the busiest one when all places are
    /// taken.
    private static func makeRoom(for address: String, in logins: inout Logins) {
        let counts = logins.values.reduce(into: [String: Int]()) { $0[$1.address, default: 0] += 1 }
        let crowded: (Login) -> Bool
        if counts[address, default: 0] >= mostOfAddress {
            crowded = { $0.address == address }
        } else if logins.count >= most {
            let busiest = counts.values.max()
            crowded = { counts[$0.address] == busiest }
        } else {
            return
        }
        let oldest = logins.filter { crowded($0.value) }.min { $0.value.number < $1.value.number }
        if let oldest { logins[oldest.key] = nil }
    }

    /// Somebody who is logged in has seen the code.
    /// - Parameter client: whom the device will act for; nil denies it.
    /// - Returns: where the page is to go.
    func decide(_ userCode: String, for client: ClientID?) throws(Refusal) -> String? {
        let letters = userCode.uppercased().filter { $0.isLetter || $0.isNumber }
        guard letters.count == Self.userCodeLength else { throw .invalidUserCode }
        let clock = clock
        let decided = logins.withLock { logins -> Result<String?, Refusal> in
            let pending = logins.first { _, login in
                if case .denied = login.state { return false }
                return login.expiresAt > clock.wallTime(issuedAt: login.offset)
                    && login.userCode.filter { $0 != "-" } == letters
            }
            guard let (code, login) = pending else { return .failure(.userCodeNotFound) }
            logins[code]?.state = client.map(State.approved) ?? .denied
            return .success(client == nil ? nil : login.redirect)
        }
        return try decided.get()
    }

    /// What has become of it. It is over once it was told.
    func redeem(_ deviceCode: String) throws(Refusal) -> ClientID {
        let clock = clock
        let redeemed = logins.withLock { logins -> Result<ClientID, Refusal> in
            guard let login = logins[deviceCode] else { return .failure(.unknown) }
            guard login.expiresAt > clock.wallTime(issuedAt: login.offset) else { return .failure(.expired) }
            let now = clock.wall.now
            if let last = login.lastAsked, now.timeIntervalSince(last) < Self.interval { return .failure(.tooFast) }
            logins[deviceCode]?.lastAsked = now
            switch login.state {
            case .pending: return .failure(.pending)
            case .denied:
                logins[deviceCode] = nil
                return .failure(.denied)
            case .approved(let client):
                logins[deviceCode] = nil
                return .success(client)
            }
        }
        return try redeemed.get()
    }

    /// As people type it: `BCDF-GHJK`.
    private func newUserCode() -> String {
        let letters = identifiers.bytes(Self.userCodeLength).map { Self.alphabet[Int($0) % Self.alphabet.count] }
        return String(letters.prefix(4)) + "-" + String(letters.dropFirst(4))
    }
}
