import Crypto
import Engines
import Foundation
import Logging
import NIOCore
import ScribeDomain
import ScribeHTTP
import ScribeRuntime

/// One socket from its first message to its end. It knows nothing of the engine but that it hears, settles and closes.
struct ListenSession: Sendable {
    let engine: any LiveEngine
    let query: ListenQuery
    /// The id that its messages carry.
    let request: String
    let clock: WorldClock
    let settings: ListenFamily.Settings
    /// Whose it is.
    let tenant: String
    /// The consultation that it is, if it is one.
    let recording: LiveRecording?
    let socket: WebSocket
    let logger: Logger

    /// What a client says, up to where it ends its stream.
    private struct Input {
        var messages: WebSocketMessages.Iterator
        let idle: IdleWatch
        var audio: ListenAudio
        var hash = SHA256()
        /// Whether the client has said that there is no more.
        var hasEnded = false

        /// The next message that is more than a sign of life; nil at the end of the stream.
        mutating func next() async throws -> Message? {
            while let message = try await messages.next() {
                idle.heard()
                switch message {
                case .binary(let bytes) where bytes.readableBytes == 0:
                    hasEnded = true
                    return nil
                case .binary(let bytes):
                    let samples = try await LongWork.run(bytes: bytes.readableBytes) {
                        hash.update(data: bytes.readableBytesView)
                        return try audio.decode(bytes)
                    }
                    if let samples { return .samples(samples) }
                case .text(let text):
                    switch ListenCommand(text) {
                    case .keepAlive: break
                    case .closeStream:
                        hasEnded = true
                        return nil
                    case let command: return .command(command)
                    }
                case .ping, .pong, .close: break
                }
            }
            return nil
        }
    }

    private enum Message {
        case samples(ByteBuffer)
        case command(ListenCommand)
    }

    /// - Returns: with what the socket is closed.
    /// - Throws: ``WebSocketClosure`` for what ends it otherwise, and what ``closure(for:)`` explains.
    func serve(_ messages: WebSocketMessages.Iterator, _ idle: IdleWatch) async throws -> WebSocketClosure {
        var input = Input(messages: messages, idle: idle, audio: ListenAudio(query))
        let createdAt = clock.now
        /// In bytes: the samples of a stream that came encoded.
        let decoded = LockedValue(0)
        func encoder() -> ListenMessages {
            ListenMessages(
                request: request, model: ListenModel(query.model, speaksSubQ: settings.speaksSubQ),
                channels: input.audio.options.channels, createdAt: createdAt, punctuates: query.options.punctuates,
                tellsLanguages: query.tellsLanguages, speaksSubQ: settings.speaksSubQ)
        }
        if settings.speaksSubQ {
            try await socket.send(encoder().metadata(duration: 0, hash: SHA256().finalize()))
        }
        // Until a container has said what it is nobody can listen.
        var first: ByteBuffer?
        var vocabulary: [String]?
        waiting: while query.isContainer, first == nil {
            switch try await input.next() {
            case .samples(let samples): first = samples
            case .command(.finalize):
                try await engine.withSession(options(input), emit: emit(encoder(), input.audio.options, decoded)) {
                    try await $0.finalize()
                }
            case .command(let command):
                if let words = try await answer(command, encoder()) { vocabulary = words }
            case nil: break waiting
            }
        }
        if !query.isContainer || first != nil {
            try await engine.withSession(options(input), emit: emit(encoder(), input.audio.options, decoded)) {
                session in
                if let vocabulary { try await session.expect(vocabulary) }
                if let first {
                    if input.audio.options.codec == nil { try await recording?.take(first, input.audio.options) }
                    try await session.feedInPieces(first)
                }
                while let message = try await input.next() {
                    switch message {
                    case .samples(let samples):
                        if input.audio.options.codec == nil {
                            try await recording?.take(samples, input.audio.options)
                        }
                        // A recogniser that is behind makes a client wait that is not idle.
                        try await idle.whileBusy { try await session.feedInPieces(samples) }
                    case .command(.finalize): try await idle.whileBusy { try await session.finalize() }
                    case .command(let command):
                        if let words = try await answer(command, encoder()) { try await session.expect(words) }
                    }
                }
                // Whatever is still to be said of what was heard takes its time.
                idle.end()
                try await session.close()
            }
        }
        if input.hasEnded { try await recording?.commit() } else { try await recording?.breakOff() }
        input.audio.count(decoded: decoded.withLock { $0 })
        let hash = input.hash.finalize()
        try await socket.send(encoder().metadata(duration: input.audio.duration, hash: hash))
        return .normal
    }

    private func options(_ input: Input) -> LiveOptions {
        var options = input.audio.options
        options.tenant = tenant
        options.language = options.language ?? recording?.language
        // What is stored is written as people write it, whatever the client wants to see.
        if recording != nil { options.punctuates = true }
        return options
    }

    private func emit(
        _ encoder: ListenMessages, _ options: LiveOptions, _ decoded: LockedValue<Int>
    ) -> @Sendable (LiveEvent) async throws -> Void {
        { [socket, logger, engine, recording, decoded] event in
            switch event {
            case .failed(let failure):
                let why = ["engine": "\(engine.name)", "why": "\(failure.logged)"] as Logger.Metadata
                logger.warning("live recognition has failed", metadata: why)
                socket.close(Self.closure(for: failure) ?? Self.failed)
                return
            case .result(let result):
                do {
                    try await recording?.heard(result)
                } catch {
                    socket.close(Self.closure(for: error) ?? .goingAway)
                    throw error
                }
            case .decoded(let samples):
                decoded.withLock { $0 += samples.readableBytes }
                try await recording?.take(samples, options)
            case .speechStarted, .utteranceEnd: break
            }
            guard let message = encoder.json(event) else { return }
            if recording == nil {
                try await socket.send(message)
            } else {
                // What was heard is kept, whether or not anybody is still there to be told.
                try? await socket.send(message)
            }
        }
    }

    /// (streaming.md 1.7)
    static let idle = WebSocketClosure(
        1011, "NET-0001: Neither audio nor a text came within the timeout window. See https://dpgr.am/net0001")
    private static let failed = WebSocketClosure(1011, "NET-0000: The recogniser has failed")

    static func closure(for error: any Error) -> WebSocketClosure? {
        switch error {
        case let failure as EngineFailure:
            switch failure.origin {
            case .input: ListenAudio.undecodable
            case .idleness: idle
            case .service, .refusal: failed
            }
        case ScribeError.storageUnavailable: WebSocketClosure(1011, "Storage is not available, try again")
        case ScribeError.invalidState(let reason): WebSocketClosure(1008, reason)
        case let failure as ScribeError: WebSocketClosure(1008, failure.code)
        default: nil
        }
    }

    /// - Returns: the words that are likely from now on, where the command has replaced them.
    private func answer(_ command: ListenCommand, _ encoder: ListenMessages) async throws -> [String]? {
        switch command {
        case .configure(let keyterms):
            let (answer, isTaken) = encoder.configured(keyterms)
            try await socket.send(answer)
            return isTaken ? keyterms : nil
        case .unknown: try await socket.send(ListenMessages.schemaError)
        case .keepAlive, .finalize, .closeStream: break
        }
        return nil
    }
}
