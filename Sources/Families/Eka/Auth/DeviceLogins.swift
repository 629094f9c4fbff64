import Basics
import Crypto
import Foundation
import ScribeDomain
import ScribeStore

/// Device logins (RFC 8628): a device shows a code instead of a login form, and a logged-in user approves the code on
/// another device within ten minutes.
struct DeviceLogins: Sendable {
    /// Lifetime of a device login, in seconds.
    static let lifetime = 600.0
    /// Minimum time between two polls of a device, in seconds.
    static let interval = 5.0
    /// Maximum number of logins in progress, in total and per client address.
    private static let most = 1000
    private static let maxOfAddress = 20
    /// Letters and digits without vowels and without characters that look alike.
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

    /// Begins a device login. A login beyond a limit is not refused: an older login ends in its place. Beyond the limit
    /// of an address, the oldest login of that address ends. Beyond the total limit, the oldest login of the address
    /// with the most logins ends.
    /// - Parameters:
    ///   - approver: the client that has approved the login from the start; nil where a user must approve.
    ///   - address: the device's address, see ``TrustedProxies/client(of:_:)``.
    /// - Returns: the user code with its hyphen: `BCDF-GHJK`. Nil where no code is free.
    func begin(
        deviceCode: String, redirect: String?, approvedBy approver: ClientID?, from address: String
    ) async throws -> String? {
        let code = try await store.accounts.beginDeviceLogin(
            deviceHash: Self.hash(of: deviceCode), codes: (0..<5).map { _ in newUserCode() }, redirect: redirect,
            approvedBy: approver, from: address, limits: (Self.most, Self.maxOfAddress),
            RefreshPeriod(lifetime: Self.lifetime, by: clock))
        return code.map { "\($0.prefix(4))-\($0.dropFirst(4))" }
    }

    /// Approves or denies a device login by its user code.
    /// - Parameter client: the client that the device will act for; nil denies the login.
    /// - Returns: the URL that the page redirects to; nil after a denial, or for a login without a URL.
    /// - Throws: ``Refusal``, or the store's error.
    func decide(_ userCode: String, for client: ClientID?) async throws -> String? {
        let letters = userCode.uppercased().filter { $0.isLetter || $0.isNumber }
        guard letters.count == Self.userCodeLength else { throw Refusal.invalidUserCode }
        let login = try await store.accounts.decideDeviceLogin(letters, for: client, isOver: isOver)
        guard let login else { throw Refusal.userCodeNotFound }
        return client == nil ? nil : login.redirect
    }

    /// Answers a device's poll for tokens. The answer to a decided login ends the login.
    /// - Returns: the client that the device acts for.
    /// - Throws: ``Refusal``, or the store's error.
    func redeem(_ deviceCode: String) async throws -> ClientID {
        let now = clock.wall.now
        let login = try await store.accounts.redeemDeviceLogin(deviceHash: Self.hash(of: deviceCode), at: now) {
            login in
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
