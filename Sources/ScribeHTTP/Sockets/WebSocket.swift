package import Basics
package import Connections
import Foundation
import Journal
import NIOCore
import ScribeRuntime

/// Sends messages over one open WebSocket. Senders wait while the client's buffer is full.
package struct WebSocket: Sendable {
    private let outgoing: OutgoingFrames
    /// Counts and faults; nil for a socket that no operator can see.
    let open: OpenSocket?
    /// Writes the frames into the journal; nil without one.
    let record: JournalRecord?

    init(outgoing: OutgoingFrames, open: OpenSocket? = nil, record: JournalRecord? = nil) {
        self.outgoing = outgoing
        self.open = open
        self.record = record
    }

    /// Closes the socket, whatever its handler waits for.
    package func close(_ closure: WebSocketClosure) {
        guard outgoing.finish(closure.frame) else { return }
        record?.add(.close(code: closure.code, reason: closure.reason), from: .server)
    }

    /// Whether neither side has ended the socket here.
    var isOpen: Bool { outgoing.isOpen }

    /// Ends the socket without a close frame, unless it has ended.
    func drop() { if outgoing.finish() { record?.end(.cut) } }

    /// Sends a text message; returns when there is room for more.
    /// - Throws: `CancellationError` if the socket is closed.
    package func send(text: String) async throws { try await send(.text, ByteBuffer(string: text)) }

    /// Sends JSON as a text message.
    /// - Parameter size: Approximate size in bytes; long JSON is encoded off the event loop.
    package func send(_ json: @autoclosure () -> JSON, size: Int = 0) async throws {
        try await send(.text, await EventLoopOffload.run(bytes: size) { ByteBuffer(json()) })
    }

    func send(_ opcode: WebSocketFrame.Opcode, _ payload: ByteBuffer) async throws {
        guard let open, !opcode.isControl else {
            await note(opcode, payload, from: .server)
            return try await outgoing.send(WebSocketFrame(opcode, payload).bytes)
        }
        for _ in 0..<open.copies(of: payload) {
            await note(opcode, payload, from: .server)
            try await outgoing.send(WebSocketFrame(opcode, payload).bytes, due: open.due)
            if let end = open.sent() { return try self.end(end) }
        }
    }

    /// Records a message of either side.
    func note(
        _ opcode: WebSocketFrame.Opcode, _ payload: @autoclosure () -> ByteBuffer, from sender: RecordedFrame.Sender
    ) async {
        guard let record else { return }
        switch opcode {
        case .text, .binary, .continuation:
            let payload = payload()
            await EventLoopOffload.run(bytes: payload.readableBytes) {
                record.add(.message(payload, isText: opcode == .text, record.mode), from: sender)
            }
        case .ping: record.add(.ping, from: sender)
        case .pong: record.add(.pong, from: sender)
        case .close: break
        }
    }

    /// Ends the socket as a fault wants.
    /// - Throws: ``WebSocketClosure`` for an end with a close frame.
    func end(_ end: OpenSocket.End) throws(WebSocketClosure) {
        switch end {
        case .close(let closure):
            close(closure)
            throw closure
        case .drop: drop()
        }
    }
}

/// Bounded queue of frames for one client; senders wait while the queue is full.
final class OutgoingFrames: Sendable {
    /// Encoded frames that go together.
    struct Batch: Sendable {
        var bytes: ByteBuffer
        /// Time before which the frames wait; nil for none.
        let due: DueTime?
    }

    private typealias Reader = CheckedContinuation<Batch?, Never>

    private struct State {
        var queue: [Batch] = []
        var bytes = 0
        var isFinished = false
        var reader: Reader?
        var writers: [Int: CheckedContinuation<Void, any Error>] = [:]
        var next = 0
    }

    /// Queue limit in bytes: below it a frame is accepted.
    private static let limit = 64 << 10

    private let state = LockedValue(State())

    var isOpen: Bool { state.withLock { !$0.isFinished } }

    /// Queues an encoded frame for the client.
    /// - Throws: `CancellationError` if the socket is closed, or if the task is cancelled during the wait.
    func send(_ bytes: ByteBuffer, due: DueTime? = nil) async throws {
        let (number, reader) = state.withLock { state -> (Int?, Reader?) in
            guard !state.isFinished else { return (nil, nil) }
            state.next += 1
            if let reader = state.reader {
                state.reader = nil
                return (state.next, reader)
            }
            state.queue.append(Batch(bytes: bytes, due: due))
            state.bytes += bytes.readableBytes
            return (state.next, nil)
        }
        guard let number else { throw CancellationError() }
        if let reader { return reader.resume(returning: Batch(bytes: bytes, due: due)) }
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

    /// The next bytes for the client; nil at the end. Only one reader.
    func next() async -> Batch? {
        await withCheckedContinuation { continuation in
            let (taken, writers) = state.withLock { state -> (Batch??, [CheckedContinuation<Void, any Error>]) in
                guard var batch = state.queue.first else {
                    if state.isFinished { return (.some(nil), []) }
                    state.reader = continuation
                    return (nil, [])
                }
                // All queued frames that are due at once: one write for many small frames.
                let end =
                    state.queue.firstIndex { $0.due.map { !$0.isSame(as: batch.due) } ?? (batch.due != nil) }
                    ?? state.queue.count
                for frame in state.queue[1..<end] { batch.bytes.writeImmutableBuffer(frame.bytes) }
                state.queue.removeFirst(end)
                state.bytes = max(0, state.bytes - batch.bytes.readableBytes)
                guard state.bytes <= Self.limit else { return (.some(batch), []) }
                defer { state.writers = [:] }
                return (.some(batch), Array(state.writers.values))
            }
            for writer in writers { writer.resume() }
            if let taken { continuation.resume(returning: taken) }
        }
    }

    /// Ends the queue after the waiting frames and an optional last frame.
    /// - Returns: false if the queue had ended before.
    @discardableResult
    func finish(_ last: WebSocketFrame? = nil) -> Bool {
        let ended = state.withLock { state -> (Reader?, Batch?, [CheckedContinuation<Void, any Error>])? in
            let last = last.map { Batch(bytes: $0.bytes, due: nil) }
            guard !state.isFinished else { return nil }
            state.isFinished = true
            defer {
                state.reader = nil
                state.writers = [:]
            }
            if let reader = state.reader { return (reader, last, Array(state.writers.values)) }
            if let last { state.queue.append(last) }
            return (nil, nil, Array(state.writers.values))
        }
        guard let (reader, batch, writers) = ended else { return false }
        reader?.resume(returning: batch)
        for writer in writers { writer.resume(throwing: CancellationError()) }
        return true
    }
}
