import Crypto
import Engines
import Foundation
import NIOCore
import ScribeDomain
import ScribeHTTP

/// One socket from its first message to its end. It knows nothing of the engine but that it hears, settles and closes.
struct ListenSession: Sendable {
    let engine: any LiveEngine
    let query: ListenQuery
    /// The id that its messages carry.
    let request: String
    let clock: ScribeClock
    let settings: ListenFamily.Settings
    let socket: WebSocket

    /// - Returns: with what the socket is closed.
    /// - Throws: ``WebSocketClosure`` for what ends it otherwise.
    func serve(_ messages: WebSocketMessages) async throws -> WebSocketClosure {
        let idle = IdleWatch(clock: clock, limit: settings.idleTime)
        return try await withThrowingTaskGroup(of: WebSocketClosure.self) { group in
            group.addTask { try await listen(to: messages, idle) }
            group.addTask { try await idle.end() }
            defer { group.cancelAll() }
            return try await group.next() ?? .normal
        }
    }

    private func listen(to messages: WebSocketMessages, _ idle: IdleWatch) async throws -> WebSocketClosure {
        var audio = ListenAudio(query)
        var hash = SHA256()
        var session: (any LiveSession)?
        let createdAt = clock.now
        func encoder() -> ListenMessages {
            ListenMessages(
                request: request, model: ListenModel(query.model, speaksSubQ: settings.speaksSubQ),
                channels: audio.options.channels,
                createdAt: createdAt, speaksSubQ: settings.speaksSubQ)
        }
        if settings.speaksSubQ {
            try await socket.send(text: try encoder().metadata(duration: 0, hash: SHA256().finalize()))
        }
        if !query.isContainer { session = try await begin(audio.options, encoder()) }

        listening: for try await message in messages {
            idle.heard()
            switch message {
            case .binary(let bytes) where bytes.readableBytes == 0: break listening
            case .binary(let bytes):
                hash.update(data: bytes.readableBytesView)
                guard let samples = try audio.decode(bytes) else { continue }
                if session == nil { session = try await begin(audio.options, encoder()) }
                try await session?.feed(samples)
                idle.heard()
            case .text(let text):
                switch ListenCommand(text) {
                case .keepAlive: break
                case .finalize:
                    // Before a container has said what it is there is nothing to settle, and nothing to begin with.
                    if session == nil {
                        var nothing = try await begin(audio.options, encoder())
                        try await nothing.finalize()
                    }
                    try await session?.finalize()
                case .closeStream: break listening
                case .configure: try await socket.send(text: try encoder().configured())
                case .unknown: try await socket.send(text: try encoder().schemaError())
                }
            case .ping, .pong, .close: break
            }
        }
        try await session?.close()
        try await socket.send(text: try encoder().metadata(duration: audio.duration, hash: hash.finalize()))
        return .normal
    }

    private func begin(_ options: LiveOptions, _ encoder: ListenMessages) async throws -> any LiveSession {
        try await engine.session(options) { [socket] event in try await socket.send(text: try encoder.text(event)) }
    }
}

/// Ends a socket over which neither audio nor text comes (streaming.md 1.7).
private final class IdleWatch: Sendable {
    private let clock: ScribeClock
    private let limit: Duration
    private let count = LockedValue((messages: 0, last: Date.distantPast))

    init(clock: ScribeClock, limit: Duration) {
        self.clock = clock
        self.limit = limit
        heard()
    }

    func heard() {
        let now = clock.now
        count.withLock { $0 = ($0.messages + 1, now) }
    }

    /// - Throws: ``WebSocketClosure`` when nothing was heard for too long, `CancellationError`.
    func end() async throws -> WebSocketClosure {
        while true {
            let before = count.withLock { $0 }
            // Not beyond the limit, whatever was done to the clock.
            let passed = max(0, clock.now.timeIntervalSince(before.last))
            try await clock.sleep(for: max(.milliseconds(1), limit - .seconds(passed)), as: .socketIdle)
            guard count.withLock({ $0.messages }) == before.messages else { continue }
            throw WebSocketClosure(
                1011,
                "NET-0001: Neither audio nor a text came within the timeout window. See https://dpgr.am/net0001")
        }
    }
}
