import Crypto
import Engines
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import ScribeDomain
import ScribeHTTP

/// `GET /v1/listen` and `/v1/listen/pcm`: live audio over a socket (streaming.md 1 and 3).
struct ListenRoutes: Sendable {
    let engine: any LiveEngine
    let authenticator: Authenticator
    let identifiers: IdentifierSource
    let clock: ScribeClock
    let settings: ListenFamily.Settings
    let counts: SocketCounts

    func add(to router: RouterGroup<ScribeContext>) {
        router.get("v1/listen") { try await listen($0, $1, isRaw: false) }
        router.get("v1/listen/pcm") { try await listen($0, $1, isRaw: true) }
    }

    private func listen(_ request: Request, _ context: ScribeContext, isRaw: Bool) async throws -> Response {
        let credentials = ListenCredentials(request.headers)
        guard let upgrade = WebSocketUpgrade(request) else {
            _ = try await principal(credentials)
            throw ListenError.upgradeRequired
        }
        var limits = WebSocketUpgrade.Limits()
        // Three seconds of audio in one message are usual, and a minute is not too much.
        limits.messageSize = 16 << 20
        let id = identifiers.uuid()
        let headers: HTTPFields = [.dgRequestID: id]
        let principal: Principal
        do {
            principal = try await self.principal(credentials)
        } catch HTTPProblem.unauthenticated where credentials.isSubprotocol {
            // Browsers and phones see no answer to an upgrade that is refused, but they see how a socket closes.
            return upgrade.response(
                subprotocol: credentials.agreed, headers: headers, limits: limits, clock: clock, request,
                context: context
            ) { _, _ in WebSocketClosure(1008, "401 INVALID_AUTH: Invalid credentials.") }
        }
        let query = try ListenQuery(request.uri.queryParameters, isRaw: isRaw, speaksSubQ: settings.speaksSubQ)
        let place = try counts.take(principal.business)
        return upgrade.response(
            subprotocol: credentials.agreed, headers: headers, limits: limits, clock: clock, request, context: context
        ) { socket, messages in
            defer { place.giveBack() }
            let session = ListenSession(
                engine: engine, query: query, request: id, clock: clock, settings: settings, socket: socket)
            return try await session.serve(messages)
        }
    }

    /// - Throws: ``HTTPProblem/unauthenticated(reason:)``.
    private func principal(_ credentials: ListenCredentials) async throws -> Principal {
        if let key = credentials.key, let principal = authenticator.clients.principal(ofKey: key) { return principal }
        return try await authenticator.principal(offering: [credentials.key].compactMap(\.self))
    }
}

/// The key that a request brings (streaming.md 1.2): in `Authorization`, after `Token` or `Bearer`, or, from those who can
/// set no headers, as the second subprotocol.
struct ListenCredentials: Hashable, Sendable {
    let key: String?
    /// The subprotocol to agree on: never the key.
    let agreed: String?
    /// Whether the key came so.
    let isSubprotocol: Bool

    init(_ headers: HTTPFields) {
        let offered = headers[values: .secWebSocketProtocol]
            .flatMap { $0.split(separator: ",") }.map { $0.trimmingCharacters(in: .whitespaces) }
        let scheme = offered.first.flatMap { ["token", "bearer"].contains($0.lowercased()) ? $0 : nil }
        agreed = scheme
        if let value = headers[.authorization] {
            let words = value.split(separator: " ", maxSplits: 1)
            let isKnown = words.count == 2 && ["token", "bearer"].contains(words[0].lowercased())
            key = isKnown ? String(words[1]) : nil
            isSubprotocol = false
        } else {
            key = scheme != nil && offered.count > 1 ? offered[1] : nil
            isSubprotocol = scheme != nil
        }
    }
}

/// How many sockets are open, so that one business cannot have all of them.
final class SocketCounts: Sendable {
    private let most: Int
    private let mostOfBusiness: Int
    private let open = LockedValue<[BusinessID: Int]>([:])

    init(most: Int, mostOfBusiness: Int) {
        self.most = most
        self.mostOfBusiness = mostOfBusiness
    }

    /// A place for one more, given back when the socket ends, or when nobody holds it any more.
    /// - Throws: ``HTTPProblem/busy(retryAfter:)``.
    func take(_ business: BusinessID) throws(HTTPProblem) -> SocketPlace {
        let isTaken = open.withLock { open in
            guard open.values.reduce(0, +) < most, open[business, default: 0] < mostOfBusiness else { return false }
            open[business, default: 0] += 1
            return true
        }
        guard isTaken else { throw .busy(retryAfter: 10) }
        return SocketPlace { [open] in
            open.withLock { open in
                open[business, default: 1] -= 1
                if open[business] == 0 { open[business] = nil }
            }
        }
    }
}

/// See ``SocketCounts``.
final class SocketPlace: Sendable {
    private let back: @Sendable () -> Void
    private let isBack = LockedValue(false)

    init(_ back: @escaping @Sendable () -> Void) { self.back = back }

    deinit { giveBack() }

    func giveBack() {
        let isFirst = isBack.withLock { isBack in
            defer { isBack = true }
            return !isBack
        }
        if isFirst { back() }
    }
}
