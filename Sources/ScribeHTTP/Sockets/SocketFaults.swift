import Basics
import Connections
import Foundation
import NIOCore
import ScribeDomain
import ScribeRuntime

/// Fault of one socket: counts its messages, and ends, doubles, loses or delays them. Without a rule it does nothing.
package final class SocketFaults: Sendable {
    private struct State {
        var fault = SocketFault()
        /// Time that each message waits before it is sent.
        var delay: Duration = .zero
        var isByWorldClock = false
        let clock: WorldClock
        /// End of the world, whose clock may stand still then.
        let end: OneShotSignal
        var sent = 0
        var received = 0
    }

    private let state: LockedValue<State>

    init(_ applied: FaultRules.Applied?, of world: World) {
        state = LockedValue(State(clock: world.runtime.clock, end: world.end))
        if let applied { take(applied, of: world) }
    }

    /// Applies a rule of a world from now on.
    func take(_ applied: FaultRules.Applied, of world: World) {
        guard case .socket(let fault) = applied.rule.effect else { return }
        state.withLock { state in
            state = State(
                fault: fault, delay: applied.delay, isByWorldClock: applied.rule.isByWorldClock,
                clock: world.runtime.clock, end: world.end, sent: state.sent, received: state.received)
        }
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
            guard let limit = state.fault.afterSent, state.sent >= limit else { return nil }
            return Self.end(state.fault)
        }
    }

    /// Counts a message of the client.
    func countReceived() { state.withLock { $0.received += 1 } }

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
    var due: Date? {
        let (delay, clock, isByWorldClock) = state.withLock { ($0.delay, $0.clock, $0.isByWorldClock) }
        guard delay > .zero else { return nil }
        return (isByWorldClock ? clock.now : clock.wall.now).addingTimeInterval(delay / .seconds(1))
    }

    /// Waits until a message is due, or until the world ends.
    func wait(until due: Date) async throws {
        let (clock, isByWorldClock, end) = state.withLock { ($0.clock, $0.isByWorldClock, $0.end) }
        let left = due.timeIntervalSince(isByWorldClock ? clock.now : clock.wall.now)
        guard left > 0 else { return }
        try await end.shortening {
            if isByWorldClock {
                try await clock.sleep(until: due, as: .fault)
            } else {
                try await clock.wall.sleep(for: .seconds(left), as: .fault)
            }
        }
    }
}
