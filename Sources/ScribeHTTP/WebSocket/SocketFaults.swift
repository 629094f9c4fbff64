import NIOCore
import ScribeDomain
import ScribeRuntime

/// Fault of one socket: counts its messages, and ends, doubles, loses or delays them. Without a rule it does nothing.
package final class SocketFaults: Sendable {
    private struct State {
        var fault = SocketFault()
        /// Time that each batch of messages waits before it is sent.
        var delay: Duration = .zero
        var isByWorldClock = false
        var clock: WorldClock
        var sent = 0
        var received = 0
    }

    private let state: LockedValue<State>

    init(_ applied: FaultRules.Applied?, clock: WorldClock) {
        state = LockedValue(State(clock: clock))
        if let applied { take(applied, clock: clock) }
    }

    /// Applies a rule from now on.
    func take(_ applied: FaultRules.Applied, clock: WorldClock) {
        guard case .socket(let fault) = applied.rule.effect else { return }
        state.withLock { state in
            (state.fault, state.delay, state.clock) = (fault, applied.delay, clock)
            state.isByWorldClock = applied.rule.isByWorldClock
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

    /// Waits before a batch of messages is sent. Further messages gather meanwhile, so that each is late by up to twice
    /// the delay, and no more.
    func passDelay() async throws {
        let (delay, clock, isByWorldClock) = state.withLock { ($0.delay, $0.clock, $0.isByWorldClock) }
        guard delay > .zero else { return }
        if isByWorldClock {
            try await clock.sleep(for: delay, as: .fault)
        } else {
            try await clock.wall.sleep(for: delay, as: .fault)
        }
    }
}
