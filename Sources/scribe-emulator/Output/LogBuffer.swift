import Basics
import Dispatch

/// Writes log lines on a thread of its own, so that an unread log holds up no event loop.
///
/// The buffer has a limit. Lines beyond it are dropped and counted, and a line tells their number once there is room.
final class LogBuffer: Sendable {
    private struct State {
        var lines: [UInt8] = []
        /// Bytes of the lines and of those that are being written.
        var size = 0
        var dropped = 0
        var isWriting = false
    }

    private let limit: Int
    private let pause: @Sendable () -> Void
    private let output: @Sendable ([UInt8]) -> Void
    private let notice: @Sendable (Int) -> [UInt8]
    private let state = LockedValue(State())
    private let thread = DispatchQueue(label: "log")

    /// - Parameters:
    ///   - limit: in bytes.
    ///   - pause: lets lines gather, and may block: to wake the thread costs a request as much as its line.
    ///   - output: writes lines, and may block.
    ///   - notice: the line about this number of dropped lines.
    init(
        limit: Int = 1 << 20, pause: @escaping @Sendable () -> Void = {},
        output: @escaping @Sendable ([UInt8]) -> Void,
        notice: @escaping @Sendable (Int) -> [UInt8]
    ) {
        self.limit = limit
        self.pause = pause
        self.output = output
        self.notice = notice
    }

    /// Takes a line to be written, and returns at once.
    func write(_ line: [UInt8]) {
        let mustStart = state.withLock { state in
            guard state.size + line.count <= limit else {
                state.dropped += 1
                return false
            }
            state.lines += line
            state.size += line.count
            defer { state.isWriting = true }
            return !state.isWriting
        }
        if mustStart { thread.async { self.writeLines() } }
    }

    private func writeLines() {
        while true {
            pause()
            let (lines, dropped) = state.withLock { state in
                defer { (state.lines, state.dropped) = ([], 0) }
                if state.lines.isEmpty, state.dropped == 0 { state.isWriting = false }
                return (state.lines, state.dropped)
            }
            guard !lines.isEmpty || dropped > 0 else { return }
            if !lines.isEmpty {
                output(lines)
                state.withLock { $0.size -= lines.count }
            }
            if dropped > 0 { output(notice(dropped)) }
        }
    }

    /// Returns once the lines so far are written, or after a second, because the log may have no reader.
    func flush(by clock: WallClock) async {
        await withCheckedContinuation { continuation in
            let waiting = LockedValue<CheckedContinuation<Void, Never>?>(continuation)
            let resume: @Sendable () -> Void = { waiting.withLock { $0.take() }?.resume() }
            let late = Task {
                try? await clock.sleep(for: .seconds(1), as: .log)
                resume()
            }
            thread.async {
                late.cancel()
                resume()
            }
        }
    }
}
