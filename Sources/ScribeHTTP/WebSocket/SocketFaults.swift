import NIOCore
import ScribeDomain
import ScribeRuntime

/// Fault of one socket: counts its messages, and ends, doubles, loses or delays them.
package final class SocketFaults: Sendable {
    private struct Counts {
        var sent = 0
        var received = 0
    }

    private let fault: SocketFault
    /// Time that each batch of messages waits before it is sent.
    private let delay: Duration
    private let clock: WorldClock
    private let isByWorldClock: Bool
    private let counts = LockedValue(Counts())

    init(_ fault: SocketFault, delay: Duration, clock: WorldClock, _ rule: FaultRule) {
        self.fault = fault
        self.delay = delay
        self.clock = clock
        isByWorldClock = rule.isByWorldClock
    }

    /// End of a socket.
    enum End: Sendable {
        case close(WebSocketClosure)
        /// Without a close frame.
        case drop
    }

    private var end: End {
        fault.close.map { .close(WebSocketClosure(UInt16($0), fault.reason ?? "")) } ?? .drop
    }

    /// Number of times that a message of the server is sent.
    func copies(of payload: ByteBuffer) -> Int {
        guard let results = fault.results, fault.messages?.matches(String(buffer: payload)) ?? true else { return 1 }
        switch results {
        case .doubled: return 2
        case .missing: return 0
        }
    }

    /// Counts a message of the server.
    /// - Returns: The end of the socket after it; nil if the socket goes on.
    func sent() -> End? {
        let count = counts.withLock { counts in
            counts.sent += 1
            return counts.sent
        }
        return count == fault.afterSent ? end : nil
    }

    /// Counts a message of the client.
    func countReceived() { counts.withLock { $0.received += 1 } }

    /// The end of a socket whose client has sent enough; nil if the socket goes on.
    var endAfterReceived: End? {
        guard let limit = fault.afterReceived, counts.withLock({ $0.received }) >= limit else { return nil }
        return end
    }

    /// The end of a socket that ends before any message; nil for any other.
    var endAtOnce: End? { fault.afterSent == 0 || fault.afterReceived == 0 ? end : nil }

    /// Waits before a batch of messages is sent. Further messages gather meanwhile, so that each is late by up to twice
    /// the delay, and no more.
    func passDelay() async throws {
        guard delay > .zero else { return }
        if isByWorldClock {
            try await clock.sleep(for: delay, as: .fault)
        } else {
            try await clock.wall.sleep(for: delay, as: .fault)
        }
    }
}
