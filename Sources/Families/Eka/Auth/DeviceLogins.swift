import Crypto
import Foundation
import ScribeDomain
import ScribeStore

/// Device logins (RFC 8628): a device without a form shows a code, and a user who is logged in elsewhere approves it
/// within ten minutes.
struct DeviceLogins: Sendable {
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

    let store: Store
    let identifiers: IdentifierSource
    let clock: WorldClock

    /// Begins a login. An address that begins too many loses its oldest one: no other address loses a login, and none is
    /// refused.
    /// - Parameters:
    ///   - approver: the client that has approved it from the start; nil where a user must.
    ///   - address: of the device, see ``TrustedProxies/client(of:_:)``.
    /// - Returns: the code to show, as people type it: `BCDF-GHJK`. Nil where no code is free.
    func begin(
        deviceCode: String, redirect: String?, approvedBy approver: ClientID?, from address: String
    ) async throws -> String? {
        let code = try await store.beginDeviceLogin(
            deviceHash: Self.hash(of: deviceCode), codes: (0..<5).map { _ in newUserCode() }, redirect: redirect,
            approvedBy: approver, from: address, limits: (Self.most, Self.mostOfAddress),
            RefreshPeriod(lifetime: Self.lifetime, by: clock))
        return code.map { "\($0.prefix(4))-\($0.dropFirst(4))" }
    }

    /// Approves or denies a login by the code that the device shows.
    /// - Parameter client: whom the device will act for; nil denies it.
    /// - Returns: where the page is to go.
    /// - Throws: ``Refusal``, and what the store throws.
    func decide(_ userCode: String, for client: ClientID?) async throws -> String? {
        let letters = userCode.uppercased().filter { $0.isLetter || $0.isNumber }
        guard letters.count == Self.userCodeLength else { throw Refusal.invalidUserCode }
        let login = try await store.decideDeviceLogin(letters, for: client, isOver: isOver)
        guard let login else { throw Refusal.userCodeNotFound }
        return client == nil ? nil : login.redirect
    }

    /// Answers the device that asks for its tokens. A login that was decided is over with the answer.
    /// - Returns: the client that the device acts for.
    /// - Throws: ``Refusal``, and what the store throws.
    func redeem(_ deviceCode: String) async throws -> ClientID {
        let now = clock.wall.now
        let login = try await store.redeemDeviceLogin(deviceHash: Self.hash(of: deviceCode), at: now) { login in
            guard !isOver(login) else { throw Refusal.expired }
            if let last = login.askedAt, now.timeIntervalSince(last) < Self.interval { throw Refusal.tooFast }
        }
        switch login?.decision {
        case nil: throw Refusal.unknown
        case .pending: throw Refusal.pending
        case .denied: throw Refusal.denied
        case .approved(let client): return client
        }
    }

    @Sendable private func isOver(_ login: DeviceLogin) -> Bool {
        login.expiresAt <= clock.wallTime(issuedAt: login.clockOffset)
    }

    private func newUserCode() -> String {
        String(identifiers.bytes(Self.userCodeLength).map { Self.alphabet[Int($0) % Self.alphabet.count] })
    }

    private static func hash(of deviceCode: String) -> [UInt8] { Array(SHA256.hash(data: Data(deviceCode.utf8))) }
}
