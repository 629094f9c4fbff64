package import Basics
package import Connections
package import HTTPTypes
package import Hummingbird
package import ScribeDomain
import ScribeRuntime

/// Opens and serves WebSockets of one family: limits on number, message size, silence and memory.
package struct SocketRoute: Sendable {
    /// Limits of each socket.
    package struct Limits: Sendable {
        /// Longest message, in bytes.
        package var messageSize = 1 << 20
        /// Longest text message, in bytes; nil for ``messageSize``.
        package var textSize: Int?
        /// Longest first message, in bytes; nil for ``messageSize``.
        var firstSize: Int?
        /// Longest time without activity.
        package var idleTime: Duration
        /// Closure of an idle socket.
        package var idleClosure: WebSocketClosure

        package init(idleTime: Duration, closure: WebSocketClosure) {
            self.idleTime = idleTime
            idleClosure = closure
        }
    }

    /// Translates an error into a closure, and may send an explanation; nil for an error of no family.
    package typealias Explanation = @Sendable (any Error, WebSocket) async throws -> WebSocketClosure?

    /// Longest wait for the first message of a socket without a login.
    private static let loginTime: Duration = .seconds(5)
    /// Longest first message, in bytes: a token fits easily.
    private static let loginSize = 4 << 10

    private let counts: SocketCounts
    private let beforeLogin = SocketsBeforeLogin()
    private let memory: MemoryBudget
    private let limits: Limits
    private let clock: WallClock
    private let end: OneShotSignal
    private let use: WorldUse
    private let explain: Explanation

    package init(
        of world: World, in environment: FamilyEnvironment, limits: Limits, explain: @escaping Explanation
    ) {
        counts = SocketCounts(environment.sockets)
        memory = environment.memory
        self.limits = limits
        clock = world.runtime.clock.wall
        end = world.end
        use = world.use
        self.explain = explain
    }

    /// Takes a place for one socket of a business. The place is given back when the socket ends, or when its last
    /// reference goes.
    /// - Throws: ``HTTPProblem/busy(retryAfter:)``.
    package func enter(_ principal: Principal, _ context: ScribeContext) throws(HTTPProblem) -> SocketEntry {
        context.noteCaller(principal)
        return try enter(principal.business)
    }

    private func enter(_ business: BusinessID) throws(HTTPProblem) -> SocketEntry {
        SocketEntry(place: try counts.take(business), business: business)
    }

    /// Opens a socket for an authenticated client.
    /// - Parameters:
    ///   - subprotocol: The agreed subprotocol, one of those offered.
    ///   - serve: Serves the socket; its result or error closes it.
    package func response(
        to upgrade: WebSocketUpgrade, in entry: SocketEntry, subprotocol: String? = nil, headers: HTTPFields = [:],
        _ request: Request, _ context: ScribeContext,
        serve: @escaping @Sendable (SocketSession, WebSocketMessages.Iterator) async throws -> WebSocketClosure
    ) -> Response {
        let share = MemoryShare(of: memory, for: entry.business.rawValue)
        let idle = idleWatch
        let playback = context.nextPlayback(for: request, in: context.world)
        return upgrade.response(
            subprotocol: subprotocol, headers: headers, limits: limits, clock: clock, end: end, memory: share,
            idle: idle, request, context: context
        ) { socket, messages in
            if let playback {
                var messages = messages.makeAsyncIterator()
                return try await Player(playback: playback, clock: clock).play(socket, &messages)
            }
            let session = SocketSession(socket: socket, idle: idle, memory: memory)
            session.enter(entry)
            return try await ComputeThreads.$caller.withValue(entry.business.rawValue) {
                try await run(session) { try await serve(session, messages.makeAsyncIterator()) }
            }
        }
    }

    /// Opens a socket whose first message authenticates the client: pages cannot set headers.
    /// - Parameters:
    ///   - address: See ``TrustedProxies/client(of:_:)``.
    ///   - late: Closure if no message comes in time.
    ///   - login: Handles the first message; nil for a client that has disconnected. It sends nothing to a client that
    ///     it admits, who may get a recording.
    package func response<Login: Sendable>(
        to upgrade: WebSocketUpgrade, from address: String, late: WebSocketClosure, _ request: Request,
        _ context: ScribeContext,
        login: @escaping @Sendable (WebSocketMessage?, WebSocket) async throws -> (Login, BusinessID, World),
        serve: @escaping @Sendable (SocketSession, WebSocketMessages.Iterator, Login) async throws -> WebSocketClosure
    ) -> Response {
        let share = MemoryShare(of: memory)
        let idle = idleWatch
        var limits = limits
        limits.firstSize = Self.loginSize
        return upgrade.response(
            subprotocol: nil, headers: [:], limits: limits, clock: clock, end: end, memory: share, idle: idle, request,
            context: context
        ) { socket, messages in
            let session = SocketSession(socket: socket, idle: idle, memory: memory)
            return try await run(session) {
                var messages = messages.makeAsyncIterator()
                var first: WebSocketMessage?
                let (known, business, world) = try await beforeLogin.hold(
                    socket, from: address, Self.loginTime, late, clock
                ) {
                    first = try await messages.next()
                    return try await login(first, socket)
                }
                do {
                    session.enter(try enter(business))
                } catch {
                    throw WebSocketClosure(1013, "Too many open streams, try again")
                }
                share.belong(to: business.rawValue)
                if let playback = context.nextPlayback(for: request, in: world) {
                    idle.end()
                    return try await Player(playback: playback, clock: clock).play(socket, &messages, after: first)
                }
                return try await ComputeThreads.$caller.withValue(business.rawValue) { [messages] in
                    try await serve(session, messages, known)
                }
            }
        }
    }

    /// Opens a socket only to close it, for clients that cannot read the status of a refused upgrade.
    package func refusal(
        _ closure: WebSocketClosure, of upgrade: WebSocketUpgrade, subprotocol: String?, headers: HTTPFields,
        _ request: Request, _ context: ScribeContext
    ) -> Response {
        upgrade.response(
            subprotocol: subprotocol, headers: headers, limits: limits, clock: clock, end: end,
            memory: MemoryShare(of: memory), idle: idleWatch, request, context: context
        ) { _, _ in closure }
    }

    private var idleWatch: IdleTimeout {
        IdleTimeout(clock: clock, limit: limits.idleTime, closure: limits.idleClosure)
    }

    /// Serves a socket to its end. Received data is stored before the client learns of the closure.
    private func run(
        _ session: SocketSession, _ serve: @escaping @Sendable () async throws -> WebSocketClosure
    ) async throws -> WebSocketClosure {
        use.begin()
        defer {
            use.end()
            session.leave()
        }
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
            try await session.storeRest()
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

/// A place among a business's open sockets.
package struct SocketEntry: Sendable {
    let place: SocketPlace
    package let business: BusinessID
}

/// An open socket, for the handler that serves it.
package struct SocketSession: Sendable {
    package let socket: WebSocket
    /// Records activity, and work that the client waits for.
    package let idle: IdleTimeout
    let memory: MemoryBudget
    private let entry = LockedValue<SocketEntry?>(nil)
    private let rest = LockedValue<(@Sendable () async throws -> Void)?>(nil)

    fileprivate func enter(_ place: SocketEntry) { entry.withLock { $0 = place } }

    fileprivate func leave() { entry.withLock { $0.take() }?.place.giveBack() }

    /// A share of the memory budget for bytes beside the present message.
    package func makeShare() -> MemoryShare { MemoryShare(of: memory, for: entry.withLock { $0?.business.rawValue }) }

    /// Sets work for the end of the socket, however it ends, such as storing received data.
    package func atEnd(_ keep: @escaping @Sendable () async throws -> Void) { rest.withLock { $0 = keep } }

    fileprivate func storeRest() async throws {
        guard let keep = rest.withLock({ $0 }) else { return }
        try await shieldFromCancellation { try await keep() }
    }
}
