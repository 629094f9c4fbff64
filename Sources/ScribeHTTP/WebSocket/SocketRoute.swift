package import HTTPTypes
package import Hummingbird
package import ScribeDomain
import ScribeRuntime

/// A way in for WebSockets: how many may be open, what one may hold, how long it may be silent, and how it ends. Every
/// family's sockets go through one.
package struct SocketRoute: Sendable {
    /// The limits of its sockets.
    package struct Limits: Sendable {
        /// The longest message, in bytes.
        package var messageSize = 1 << 20
        /// The longest text, in bytes; nil for ``messageSize``.
        package var textSize: Int?
        /// The longest time between two signs of life.
        package var idleTime: Duration
        /// The closure of an idle socket.
        package var idleClosure: WebSocketClosure

        package init(idleTime: Duration, closure: WebSocketClosure) {
            self.idleTime = idleTime
            idleClosure = closure
        }
    }

    /// Explains an error to the client and returns the closure; nil when the error is not the family's.
    package typealias Explanation = @Sendable (any Error, WebSocket) async throws -> WebSocketClosure?

    /// The longest time before the first message of a socket without a login.
    private static let loginTime: Duration = .seconds(5)
    /// The longest first message, in bytes: a token with room to spare.
    private static let loginSize = 4 << 10

    private let counts: SocketCounts
    private let beforeLogin = SocketsBeforeLogin()
    private let memory: MemoryBudget
    private let limits: Limits
    private let clock: WallClock
    private let end: Departure
    private let explain: Explanation

    package init(
        _ counts: SocketCounts, of world: World, memory: MemoryBudget, limits: Limits,
        explain: @escaping Explanation
    ) {
        self.counts = counts
        self.memory = memory
        self.limits = limits
        clock = world.runtime.clock.wall
        end = world.end
        self.explain = explain
    }

    /// A place for one more of a business, given back when its socket ends, or when nobody holds it any more.
    /// - Throws: ``HTTPProblem/busy(retryAfter:)``.
    package func enter(_ business: BusinessID) throws(HTTPProblem) -> SocketEntry {
        SocketEntry(place: try counts.take(business), business: business)
    }

    /// The answer that opens the socket of somebody who is known.
    /// - Parameters:
    ///   - subprotocol: that was agreed on, one of those offered.
    ///   - serve: has it as long as it runs, with what its client says; what it throws or returns closes it.
    package func response(
        to upgrade: WebSocketUpgrade, in entry: SocketEntry, subprotocol: String? = nil, headers: HTTPFields = [:],
        _ request: Request, _ context: ScribeContext,
        serve: @escaping @Sendable (SocketSession, WebSocketMessages.Iterator) async throws -> WebSocketClosure
    ) -> Response {
        let share = MemoryShare(of: memory, for: entry.business)
        let idle = idleWatch
        return upgrade.response(
            subprotocol: subprotocol, headers: headers, limits: upgradeLimits, clock: clock, end: end, memory: share,
            idle: idle, request, context: context
        ) { socket, messages in
            let session = SocketSession(socket: socket, idle: idle, memory: memory)
            session.enter(entry)
            return try await run(session) { try await serve(session, messages.makeAsyncIterator()) }
        }
    }

    /// The answer that opens the socket of somebody who says in the first message who he is: pages can set no headers.
    /// - Parameters:
    ///   - address: see ``TrustedProxies/client(of:_:)``.
    ///   - late: with what it is closed when no message comes in time.
    ///   - login: answers the first message; nil for a client that has gone.
    package func response<Login: Sendable>(
        to upgrade: WebSocketUpgrade, from address: String, late: WebSocketClosure, _ request: Request,
        _ context: ScribeContext,
        login: @escaping @Sendable (WebSocketMessage?, WebSocket) async throws -> (Login, BusinessID),
        serve: @escaping @Sendable (SocketSession, WebSocketMessages.Iterator, Login) async throws -> WebSocketClosure
    ) -> Response {
        let share = MemoryShare(of: memory)
        let idle = idleWatch
        var limits = upgradeLimits
        limits.firstSize = Self.loginSize
        return upgrade.response(
            subprotocol: nil, headers: [:], limits: limits, clock: clock, end: end, memory: share, idle: idle, request,
            context: context
        ) { socket, messages in
            let session = SocketSession(socket: socket, idle: idle, memory: memory)
            return try await run(session) {
                var messages = messages.makeAsyncIterator()
                let (known, business) = try await beforeLogin.hold(socket, from: address, Self.loginTime, late, clock) {
                    try await login(try await messages.next(), socket)
                }
                do {
                    session.enter(try enter(business))
                } catch {
                    throw WebSocketClosure(1013, "Too many are listened to at once, try again")
                }
                share.belong(to: business)
                return try await serve(session, messages, known)
            }
        }
    }

    /// The answer that opens a socket only to close it: who cannot see a refusal sees that.
    package func refusal(
        _ closure: WebSocketClosure, of upgrade: WebSocketUpgrade, subprotocol: String?, headers: HTTPFields,
        _ request: Request, _ context: ScribeContext
    ) -> Response {
        upgrade.response(
            subprotocol: subprotocol, headers: headers, limits: upgradeLimits, clock: clock, end: end,
            memory: MemoryShare(of: memory), idle: idleWatch, request, context: context
        ) { _, _ in closure }
    }

    private var idleWatch: IdleWatch { IdleWatch(clock: clock, limit: limits.idleTime, closure: limits.idleClosure) }

    private var upgradeLimits: WebSocketUpgrade.Limits {
        var upgrade = WebSocketUpgrade.Limits()
        upgrade.messageSize = limits.messageSize
        upgrade.textSize = limits.textSize
        return upgrade
    }

    /// Serves a socket to its end. What has come is kept before its client is told how it has ended.
    private func run(
        _ session: SocketSession, _ serve: @escaping @Sendable () async throws -> WebSocketClosure
    ) async throws -> WebSocketClosure {
        defer { session.leave() }
        var result: Result<WebSocketClosure, any Error>
        do {
            result = .success(
                try await withThrowingTaskGroup(of: WebSocketClosure.self) { group in
                    group.addTask { try await serve() }
                    group.addTask { [idle = session.idle] in try await idle.watch() }
                    defer { group.cancelAll() }
                    return try await group.next() ?? .normal
                })
        } catch {
            result = .failure(error)
        }
        do {
            try await session.keepRest()
        } catch {
            if case .success = result { result = .failure(error) }
        }
        switch result {
        case .success(let closure): return closure
        case .failure(let closure as WebSocketClosure): return closure
        case .failure(is MemoryBudget.Exhausted): return .noMemory
        case .failure(let error):
            guard let closure = try await explain(error, session.socket) else { throw error }
            return closure
        }
    }
}

/// A place among a business's sockets.
package struct SocketEntry: Sendable {
    let place: SocketPlace
    package let business: BusinessID
}

/// An open socket, as whoever serves it has it.
package struct SocketSession: Sendable {
    package let socket: WebSocket
    /// Is told of signs of life, and of what the client has to wait for.
    package let idle: IdleWatch
    private let memory: MemoryBudget
    private let entry = LockedValue<SocketEntry?>(nil)
    private let rest = LockedValue<(@Sendable () async throws -> Void)?>(nil)

    init(socket: WebSocket, idle: IdleWatch, memory: MemoryBudget) {
        self.socket = socket
        self.idle = idle
        self.memory = memory
    }

    fileprivate func enter(_ place: SocketEntry) { entry.withLock { $0 = place } }

    fileprivate func leave() { entry.withLock { $0.take() }?.place.giveBack() }

    /// A share of the memory budget for bytes beside the current message.
    package func makeShare() -> MemoryShare { MemoryShare(of: memory, for: entry.withLock { $0?.business }) }

    /// However the socket ends, this is done then: what has come is kept.
    package func atEnd(_ keep: @escaping @Sendable () async throws -> Void) { rest.withLock { $0 = keep } }

    fileprivate func keepRest() async throws {
        guard let keep = rest.withLock({ $0 }) else { return }
        try await uncancelled { try await keep() }
    }
}
