package import NIOCore
package import ScribeDomain

/// One open WebSocket, as a family's handler has it. What is sent waits until the client has room for it.
package struct WebSocket: Sendable {
    private let outgoing: OutgoingFrames

    init(outgoing: OutgoingFrames) { self.outgoing = outgoing }

    /// Ends it, whatever its handler waits for.
    package func close(_ closure: WebSocketClosure) { outgoing.finish(closure.frame) }

    /// Sends a text. Returns when there is room for more.
    /// - Throws: `CancellationError` when the socket is closed.
    package func send(text: String) async throws { try await send(.text, ByteBuffer(string: text)) }

    /// Sends JSON as a text.
    /// - Parameter size: about how many bytes it has; a long one is built and written off the event loop.
    package func send(_ json: @autoclosure () -> JSON, size: Int = 0) async throws {
        try await send(.text, await LongWork.run(bytes: size) { ByteBuffer(json()) })
    }

    package func send(binary: ByteBuffer) async throws { try await send(.binary, binary) }

    func send(_ opcode: WebSocketFrame.Opcode, _ payload: ByteBuffer) async throws {
        try await outgoing.send(WebSocketFrame(opcode, payload).bytes)
    }
}

/// Frames on their way to one client: a bounded number of bytes, beyond which senders wait.
final class OutgoingFrames: Sendable {
    private typealias Reader = CheckedContinuation<ByteBuffer?, Never>

    private struct State {
        var queue: [ByteBuffer] = []
        var bytes = 0
        var isFinished = false
        var reader: Reader?
        var writers: [Int: CheckedContinuation<Void, any Error>] = [:]
        var next = 0
    }

    /// In bytes: a frame is taken when less than that waits.
    private static let limit = 64 << 10

    private let state = LockedValue(State())

    /// - Throws: `CancellationError` when it is closed, or the task is cancelled while it waits.
    func send(_ bytes: ByteBuffer) async throws {
        let (number, reader) = state.withLock { state -> (Int?, Reader?) in
            guard !state.isFinished else { return (nil, nil) }
            state.next += 1
            if let reader = state.reader {
                state.reader = nil
                return (state.next, reader)
            }
            state.queue.append(bytes)
            state.bytes += bytes.readableBytes
            return (state.next, nil)
        }
        guard let number else { throw CancellationError() }
        if let reader { return reader.resume(returning: bytes) }
        try await room(number)
    }

    private func room(_ number: Int) async throws {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let mayGoOn = state.withLock { state in
                    if state.isFinished || state.bytes <= Self.limit || Task.isCancelled { return true }
                    state.writers[number] = continuation
                    return false
                }
                if mayGoOn { continuation.resume() }
            }
        } onCancel: {
            let writer = state.withLock { $0.writers.removeValue(forKey: number) }
            writer?.resume(throwing: CancellationError())
        }
    }

    /// The next bytes for the client; nil when there will be none. For one reader.
    func next() async -> ByteBuffer? {
        await withCheckedContinuation { continuation in
            let (taken, writers) = state.withLock { state -> (ByteBuffer??, [CheckedContinuation<Void, any Error>]) in
                guard !state.queue.isEmpty else {
                    if state.isFinished { return (.some(nil), []) }
                    state.reader = continuation
                    return (nil, [])
                }
                // All that waits at once: one write for many small frames.
                var bytes = state.queue[0]
                for more in state.queue.dropFirst() { bytes.writeImmutableBuffer(more) }
                state.queue.removeAll(keepingCapacity: true)
                state.bytes = 0
                defer { state.writers = [:] }
                return (.some(bytes), Array(state.writers.values))
            }
            for writer in writers { writer.resume() }
            if let taken { continuation.resume(returning: taken) }
        }
    }

    /// Sends nothing more after what waits, and perhaps a last frame.
    func finish(_ last: WebSocketFrame? = nil) {
        let (reader, bytes, writers) = state.withLock {
            state -> (Reader?, ByteBuffer?, [CheckedContinuation<Void, any Error>]) in
            guard !state.isFinished else { return (nil, nil, []) }
            state.isFinished = true
            defer {
                state.reader = nil
                state.writers = [:]
            }
            if let reader = state.reader { return (reader, last?.bytes, Array(state.writers.values)) }
            if let last { state.queue.append(last.bytes) }
            return (nil, nil, Array(state.writers.values))
        }
        reader?.resume(returning: bytes)
        for writer in writers { writer.resume(throwing: CancellationError()) }
    }
}
