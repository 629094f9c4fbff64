import Engines
import Logging
import NIOCore
import ScribeDomain
import ScribeHTTP

/// One socket of a device, from its first message to its end.
struct EdgeListener: Sendable {
    let conversation: EdgeConversation
    let engine: any LiveEngine
    let query: EdgeQuery
    let tenant: String
    let clock: ScribeClock
    let settings: EdgeFamily.Settings
    let socket: WebSocket
    let logger: Logger

    private static let pingTime: Duration = .seconds(10)
    private static let tickTime: Duration = .seconds(1)
    private static let failed = WebSocketClosure(1011, "Transcription has failed")

    func serve(_ messages: WebSocketMessages.Iterator) async throws -> WebSocketClosure {
        let idle = IdleWatch(
            clock: clock, limit: settings.idleTime, closure: WebSocketClosure(1001, "Nothing was heard"))
        do {
            try await conversation.open()
            return try await withThrowingTaskGroup(of: Void.self) { group in
                beside(&group) { _ = try await idle.watch() }
                beside(&group) {
                    while true {
                        try await clock.sleep(for: Self.pingTime, as: .socketPing)
                        try await socket.send(text: "ping")
                    }
                }
                beside(&group) {
                    while true {
                        try await clock.sleep(for: Self.tickTime, as: .conversation)
                        try await conversation.tick()
                    }
                }
                defer { group.cancelAll() }
                return try await listen(messages, idle)
            }
        } catch {
            // By another task: this one may be cancelled.
            await Task { try? await conversation.endAudio() }.value
            throw closure(for: error) ?? error
        }
    }

    /// Goes on beside the listening; what fails in it ends the socket.
    private func beside(
        _ group: inout ThrowingTaskGroup<Void, any Error>, _ work: @escaping @Sendable () async throws -> Void
    ) {
        group.addTask {
            do {
                try await work()
            } catch is CancellationError {
                return
            } catch {
                socket.close(closure(for: error) ?? Self.failed)
            }
        }
    }

    private func closure(for error: any Error) -> WebSocketClosure? {
        switch error {
        case let closure as WebSocketClosure: return closure
        case let failure as EngineFailure:
            log(failure)
            return Self.failed
        case let failure as ScribeError:
            return failure.kind == .unavailable
                ? WebSocketClosure(1013, "Storage is not available, try again") : WebSocketClosure(1008, failure.code)
        default: return nil
        }
    }

    private func log(_ failure: EngineFailure) {
        logger.warning(
            "live recognition has failed", metadata: ["engine": "\(engine.name)", "why": "\(failure.logged)"])
    }

    private func listen(_ messages: WebSocketMessages.Iterator, _ idle: IdleWatch) async throws -> WebSocketClosure {
        var messages = messages
        var first: ByteBuffer?
        while first == nil {
            let message: WebSocketMessage?
            do {
                message = try await messages.next()
            } catch let closure as WebSocketClosure {
                try await conversation.close()
                return closure
            }
            guard let message else { return .normal }
            idle.heard()
            first = try await audio(in: message)
        }
        // Nobody listens to a device that sends no sound.
        var options = query.options
        options.tenant = tenant
        try await conversation.beginAudio(options)
        let opus = query.codec == .opus ? OpusDecoder(sampleRate: options.sampleRate) : nil
        var end = WebSocketClosure.normal
        try await engine.withSession(options, emit: emit(options)) { session in
            func feed(_ bytes: ByteBuffer) async throws {
                switch query.codec {
                case .opus:
                    guard let samples = opus?.decode(bytes) else { return }
                    try await conversation.record(samples, options)
                    try await session.feed(samples)
                case .samples:
                    try await conversation.record(bytes, options)
                    try await session.feed(bytes)
                case .stream: try await session.feed(bytes)
                }
            }
            do {
                if let first { try await feed(first) }
                while let message = try await messages.next() {
                    idle.heard()
                    if let bytes = try await audio(in: message) { try await idle.whileBusy { try await feed(bytes) } }
                }
            } catch let closure as WebSocketClosure {
                try await conversation.close()
                end = closure
            } catch {
                // The connection is broken; what came over it is heard to its end.
                try Task.checkCancellation()
            }
            // What was said before the end counts, however it came.
            try await session.close()
        }
        try await conversation.endAudio()
        return end
    }

    /// - Returns: what is to be listened to; everything else is dealt with.
    private func audio(in message: WebSocketMessage) async throws -> ByteBuffer? {
        switch message {
        case .binary(let bytes): return bytes.readableBytes > 2 ? bytes : nil
        case .text(let text):
            guard let command = EdgeCommand(text) else { return nil }
            try await conversation.take(command)
            return nil
        case .ping, .pong, .close: return nil
        }
    }

    private func emit(_ options: LiveOptions) -> @Sendable (LiveEvent) async throws -> Void {
        { event in
            switch event {
            case .result(let result): try await conversation.heard(result, by: engine.name)
            case .decoded(let samples): try await conversation.record(samples, options)
            case .failed(let failure):
                log(failure)
                socket.close(Self.failed)
            case .speechStarted, .utteranceEnd: break
            }
        }
    }
}
