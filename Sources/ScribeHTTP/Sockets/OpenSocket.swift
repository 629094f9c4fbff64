import Basics
package import Connections
package import Foundation
import Hummingbird
import Journal
import Logging
import NIOCore
package import ScribeDomain
import ScribeRuntime

/// A socket while it is open: its counts, and the fault rule that applies to it. The first rule that applies does so
/// until the socket ends, or until the rule is removed or switched off.
package final class OpenSocket: Sendable {
    private struct State {
        var world: World
        var number: Int?
        var principal: Principal?
        var fault = SocketFault()
        /// Time that each message waits before it is sent.
        var delay: Duration = .zero
        var isByWorldClock = false
        /// The rule that applies; nil for none, and for the fault of the request's own header.
        var rule: FaultRules.Applied?
        var isFaulty = false
        /// Change of the rules up to which this socket has looked at them, and up to which it has asked them.
        var seen: Int
        var asked: Int
        /// Messages of the server and of the client since the rule applies.
        var sent = 0
        var received = 0
        var allSent = 0
        var allReceived = 0
        var socket: WebSocket?

        mutating func dropRule() {
            (fault, delay, isByWorldClock, rule, isFaulty) = (SocketFault(), .zero, false, nil, false)
        }
    }

    package let path: String
    package let operation: String?
    package let openedAt: Date
    package let requestID: String
    private let facts: FaultFacts
    private let connection: ClientConnection
    private let logger: Logger
    /// Fires when an operator ends the socket: messages that wait for their time go at once.
    private let isEnded = OneShotSignal()
    private let state: LockedValue<State>

    /// - Parameter own: Faults that were found before; nil if no rules were asked.
    init(_ request: Request, _ context: ScribeContext, own: SocketFaultAtOpening?) {
        let world = context.world
        (path, openedAt, requestID) = (request.uri.path, world.runtime.clock.wall.now, context.requestID)
        (connection, logger) = (context.connection, context.logger)
        let principal = context.principal ?? context.caller
        var facts = FaultFacts(request, context, principal, .all)
        (facts.place, facts.opensSocket) = (.socket, true)
        (self.facts, operation) = (facts, facts.operation)
        var state = State(world: world, seen: context.rulesVersion, asked: context.rulesVersion)
        state.principal = principal
        if let own { Self.take(own.applied, isRule: own.isRule, &state) }
        self.state = LockedValue(state)
    }

    /// Registers the socket with its world, to be closed by an operator.
    func begin(as socket: WebSocket) {
        let world = state.withLock { state in
            state.socket = socket
            return state.world
        }
        let number = world.openSockets.add(self)
        state.withLock { $0.number = number }
    }

    func finish() {
        let (world, number) = state.withLock { state in
            state.socket = nil
            return (state.world, state.number)
        }
        if let number { world.openSockets.remove(number) }
    }

    /// Notes who has logged in with the first message, and to which world.
    func enter(_ world: World, _ principal: Principal?) {
        let (former, number, isRuled) = state.withLock { state in
            defer {
                state.principal = principal
                if state.world !== world {
                    if state.rule != nil { state.dropRule() }
                    (state.world, state.seen, state.asked) = (world, -1, 0)
                }
            }
            return (state.world, state.number, state.isFaulty)
        }
        if former !== world {
            if let number {
                former.openSockets.remove(number)
                let new = world.openSockets.add(self)
                state.withLock { $0.number = new }
            }
            askRules()
        } else if !isRuled {
            // The other rules were asked when the socket was opened.
            let applied = world.runtime.faults.applied(
                to: facts(principal), at: world.runtime.clock.wall.now, since: .max, asksIdentity: true)
            if let applied { apply(applied) }
        }
    }

    // MARK: For operators

    package var number: Int { state.withLock { $0.number ?? 0 } }
    package var principal: Principal? { state.withLock { $0.principal } }
    package var rule: String? { state.withLock { $0.rule?.rule.id } }
    /// Messages of the server and of the client.
    package var counts: (sent: Int, received: Int) { state.withLock { ($0.allSent, $0.allReceived) } }

    /// Closes the socket, whatever its handler and its messages wait for.
    package func close(_ closure: WebSocketClosure) {
        state.withLock { $0.socket }?.close(closure)
        isEnded.fire()
    }

    /// Resets the connection.
    package func reset() async {
        let socket = state.withLock { $0.socket }
        await connection.reset()
        socket?.drop()
        isEnded.fire()
    }

    // MARK: Rules

    private func facts(_ principal: Principal?) -> FaultFacts {
        var facts = facts
        if let principal { (facts.business, facts.client) = (principal.business.rawValue, principal.client.rawValue) }
        return facts
    }

    /// Asks the rules that were added since the last time, unless one applies already.
    private func askRules() {
        let world = state.withLock { $0.world }
        let rules = world.runtime.faults
        let now = rules.version
        let (isNews, rule) = state.withLock { ($0.seen != now && $0.world === world, $0.rule) }
        guard isNews else { return }
        let isGone = rule.map { !rules.isOn($0) } ?? false
        // Claimed before the rules are asked: messages of both sides may come at the same time.
        let question = state.withLock { state -> (since: Int, principal: Principal?)? in
            guard state.seen < now, state.world === world else { return nil }
            state.seen = now
            if isGone, state.rule == rule { state.dropRule() }
            guard !state.isFaulty else { return nil }
            defer { state.asked = now }
            return (state.asked, state.principal)
        }
        guard let question else { return }
        let applied = rules.applied(
            to: facts(question.principal), at: world.runtime.clock.wall.now, since: question.since)
        if let applied { apply(applied) }
    }

    private func apply(_ applied: FaultRules.Applied) {
        let socket = state.withLock { state in
            Self.take(applied, isRule: true, &state)
            return state.socket
        }
        logger.notice("a fault is applied", metadata: ["fault": "\(applied.rule.id)"])
        socket?.record?.note(fault: applied.rule.id)
    }

    private static func take(_ applied: FaultRules.Applied, isRule: Bool, _ state: inout State) {
        guard case .socket(let fault) = applied.rule.effect else { return }
        (state.fault, state.delay, state.isByWorldClock) = (fault, applied.delay, applied.rule.isByWorldClock)
        (state.rule, state.isFaulty) = (isRule ? applied : nil, true)
        (state.sent, state.received) = (0, 0)
    }

    private var fault: SocketFault { state.withLock { $0.fault } }

    /// End of a socket.
    enum End: Sendable {
        case close(WebSocketClosure)
        /// Without a close frame.
        case drop
    }

    private static func end(_ fault: SocketFault) -> End {
        fault.close.map { .close(WebSocketClosure(UInt16($0), fault.reason ?? "")) } ?? .drop
    }

    /// Number of times that a message of the server is sent.
    func copies(of payload: ByteBuffer) -> Int {
        askRules()
        let fault = fault
        guard let results = fault.results, fault.messages?.matches(String(buffer: payload)) ?? true else { return 1 }
        switch results {
        case .late: return 1
        case .doubled: return 2
        case .missing: return 0
        }
    }

    /// Counts a message of the server.
    /// - Returns: The end of the socket after it; nil if the socket goes on.
    func sent() -> End? {
        state.withLock { state in
            state.sent += 1
            state.allSent += 1
            guard let limit = state.fault.afterSent, state.sent >= limit else { return nil }
            return Self.end(state.fault)
        }
    }

    /// Counts a message of the client.
    func countReceived() {
        askRules()
        state.withLock { state in
            state.received += 1
            state.allReceived += 1
        }
    }

    /// The end of a socket whose client has sent enough; nil if the socket goes on.
    var endAfterReceived: End? {
        state.withLock { state in
            guard let limit = state.fault.afterReceived, state.received >= limit else { return nil }
            return Self.end(state.fault)
        }
    }

    /// The end of a socket that ends before any message; nil for any other.
    var endAtOnce: End? {
        let fault = fault
        return fault.afterSent == 0 || fault.afterReceived == 0 ? Self.end(fault) : nil
    }

    /// Time at which a message that the server makes now is sent; nil for at once. Each message has its own time: one
    /// advance of a frozen clock sends all that were made before.
    var due: DueTime? {
        let (delay, world, isByWorldClock) = state.withLock { ($0.delay, $0.world, $0.isByWorldClock) }
        guard delay > .zero else { return nil }
        let due = DueTime(Date.distantPast, by: world, isByWorldClock: isByWorldClock)
        return DueTime(due.now.addingTimeInterval(delay / .seconds(1)), by: world, isByWorldClock: isByWorldClock)
    }

    /// Waits until a message is due, or until the client, the world or an operator ends the socket.
    func wait(until due: DueTime) async throws {
        try await connection.disconnect.shortening { [isEnded] in
            try await isEnded.shortening { try await due.wait() }
        }
    }
}

/// Fault that was found for a socket when it was opened.
struct SocketFaultAtOpening: Sendable {
    let applied: FaultRules.Applied
    /// False for a fault of the request's own header, which is no rule of the world.
    let isRule: Bool
}

/// The open sockets of a world, by their numbers.
package final class OpenSockets: Sendable {
    private let state = LockedValue((last: 0, sockets: [Int: OpenSocket]()))

    /// Number of sockets that were opened or have ended.
    package var changes: Int { state.withLock { 2 * $0.last - $0.sockets.count } }

    /// - Returns: the number of the socket.
    fileprivate func add(_ socket: OpenSocket) -> Int {
        state.withLock { state in
            state.last += 1
            state.sockets[state.last] = socket
            return state.last
        }
    }

    fileprivate func remove(_ number: Int) { state.withLock { $0.sockets[number] = nil } }

    /// The open sockets, the oldest first.
    package var all: [OpenSocket] { state.withLock { $0.sockets.sorted { $0.key < $1.key }.map(\.value) } }

    package subscript(number: Int) -> OpenSocket? { state.withLock { $0.sockets[number] } }
}

extension World {
    package var openSockets: OpenSockets { part { _ in OpenSockets() } }
}
