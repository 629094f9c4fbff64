import Basics
import Connections
import Engines
import Logging
import NIOCore
import ScribeDomain
import ScribeHTTP

/// Serves the WebSocket of one device, from its first message to its close.
struct OmiListener: Sendable {
    let conversation: OmiConversation
    let engine: any LiveEngine
    let query: OmiQuery
    let tenant: String
    let clock: WallClock
    let socket: WebSocket
    let logger: Logger

    private static let pingTime: Duration = .seconds(10)
    private static let tickTime: Duration = .seconds(1)
    private static let failed = WebSocketClosure(1011, "Transcription has failed")

    func serve(_ messages: WebSocketMessages.Iterator, _ idle: IdleTimeout) async throws -> WebSocketClosure {
        do {
            try await conversation.open()
            return try await withThrowingTaskGroup(of: Void.self) { group in
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
        } catch let failure as EngineFailure {
            log(failure)
            throw Self.failed
        }
    }

    /// Runs a task beside the reading of messages; an error in the task closes the socket.
    private func beside(
        _ group: inout ThrowingTaskGroup<Void, any Error>, _ work: @escaping @Sendable () async throws -> Void
    ) {
        group.addTask {
            do {
                try await work()
            } catch is CancellationError {
                return
            } catch {
                if let failure = error as? EngineFailure { log(failure) }
                socket.close(Self.closure(for: error) ?? Self.failed)
            }
        }
    }

    static let idle = WebSocketClosure(1001, "Nothing was heard")

    static func closure(for error: any Error) -> WebSocketClosure? {
        switch error {
        case let closure as WebSocketClosure: closure
        case is MemoryBudget.Exhausted: .noMemory
        case let failure as ScribeError:
            failure.kind == .unavailable
                ? WebSocketClosure(1013, "Storage is not available, try again") : WebSocketClosure(1008, failure.code)
        default: nil
        }
    }

    private func log(_ failure: EngineFailure) {
        logger.warning(
            "live recognition has failed", metadata: ["engine": "\(engine.name)", "why": "\(failure.logged)"])
    }

    private func listen(_ messages: WebSocketMessages.Iterator, _ idle: IdleTimeout) async throws -> WebSocketClosure {
        var messages = messages
        var first: ByteBuffer?
        while first == nil {
            do {
                guard let message = try await messages.next() else { return .normal }
                idle.recordActivity()
                first = try await idle.whileBusy { try await audio(in: message) }
            } catch let closure as WebSocketClosure {
                try await conversation.close()
                return closure
            }
        }
        // The engine starts at the first audio: a device may send text only.
        var options = query.options
        options.tenant = tenant
        try await conversation.beginAudio(options)
        var end = WebSocketClosure.normal
        try await engine.withSession(options, emit: emit(options)) { session in
            func feed(_ bytes: ByteBuffer) async throws {
                if options.codec == nil { try await conversation.record(bytes, options) }
                try await session.feedInPieces(bytes)
            }
            do {
                if let first { try await feed(first) }
                while let message = try await messages.next() {
                    idle.recordActivity()
                    // Time spent on a message does not count as idle.
                    try await idle.whileBusy {
                        if let bytes = try await audio(in: message) { try await feed(bytes) }
                    }
                }
            } catch let closure as WebSocketClosure {
                try await conversation.close()
                end = closure
            } catch  where error.isBrokenRequest || error is EngineFailure {
                // Audio that arrived before the disconnection is still recognised, unless the engine itself failed.
                try Task.checkCancellation()
            }
            // The engine finishes the audio before the end, for every kind of end.
            try await session.close()
        }
        return end
    }

    /// Handles one message.
    /// - Returns: Audio to recognise; nil for any other message.
    private func audio(in message: WebSocketMessage) async throws -> ByteBuffer? {
        switch message {
        case .binary(let bytes) where bytes.readableBytes > 2:
            guard query.isDecodable else { throw WebSocketClosure(1008, "LC3 cannot be decoded here") }
            return bytes
        case .binary: return nil
        case .text(let text):
            try await EventLoopOffload.run(bytes: text.utf8.count) {
                if let command = OmiCommand(text) { try await conversation.take(command) }
            }
            return nil
        case .ping, .pong, .close: return nil
        }
    }

    private func emit(_ options: LiveOptions) -> @Sendable (LiveEvent) async throws -> Void {
        { event in
            switch event {
            case .result(let result): try await conversation.addResult(result, by: engine.name)
            case .decoded(let samples): try await conversation.record(samples, options)
            case .failed(let failure):
                log(failure)
                socket.close(Self.failed)
            case .speechStarted, .utteranceEnd: break
            }
        }
    }
}
