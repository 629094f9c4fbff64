import Basics
import Connections
import Crypto
import Engines
import Foundation
import Logging
import NIOCore
import ScribeDomain
import ScribeHTTP
import ScribeRuntime

/// Serves one recognition WebSocket, from its first message to its close.
struct ListenSession: Sendable {
    let engine: any LiveEngine
    let query: ListenQuery
    /// The request id that every message carries.
    let request: String
    let clock: WorldClock
    let settings: ListenFamily.Settings
    /// The business of the stream, as the engine's tenant.
    let tenant: String
    /// The recording that the stream feeds; nil for a stream without a transaction.
    let recording: LiveRecording?
    let socket: WebSocket
    /// Another receiver of the messages; nil without one.
    let callback: StreamCallback?
    let logger: Logger

    /// Decodes the client's messages up to the end of its stream.
    private struct Input {
        var messages: WebSocketMessages.Iterator
        let idle: IdleTimeout
        /// Whether audio alone keeps the socket open.
        let needsAudio: Bool
        var audio: ListenAudio
        var hash = SHA256()
        /// Whether the client announced the end of the stream.
        var hasEnded = false

        /// The next samples or command, without `KeepAlive` messages; nil at the end of the stream.
        mutating func next() async throws -> Message? {
            while let message = try await messages.next() {
                if case .text = message, needsAudio {} else { idle.recordActivity() }
                switch message {
                case .binary(let bytes) where bytes.readableBytes == 0:
                    hasEnded = true
                    return nil
                case .binary(let bytes):
                    let samples = try await EventLoopOffload.run(bytes: bytes.readableBytes) {
                        hash.update(data: bytes.readableBytesView)
                        return try audio.decode(bytes)
                    }
                    if let samples { return .samples(samples) }
                case .text(let text):
                    switch ListenCommand(text) {
                    case .keepAlive: break
                    case .closeStream:
                        hasEnded = true
                        // The journal shows what a client sends too late. A close among it changes nothing.
                        while (try? await messages.arrived()) != nil {}
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

    /// Serves the socket.
    /// - Returns: The regular closure of the socket.
    /// - Throws: ``WebSocketClosure`` for another closure, and errors that ``closure(for:)`` translates.
    func serve(_ messages: WebSocketMessages.Iterator, _ idle: IdleTimeout) async throws -> WebSocketClosure {
        guard let callback else { return try await serve(messages, idle, nil) }
        return try await callback.withReceiver(idle, close: { [socket] in socket.close($0) }) {
            try await serve(messages, idle, $0)
        }
    }

    private func serve(
        _ messages: WebSocketMessages.Iterator, _ idle: IdleTimeout, _ sink: StreamCallback.Sink?
    ) async throws -> WebSocketClosure {
        var input = Input(
            messages: messages, idle: idle, needsAudio: settings.needsAudio, audio: ListenAudio(query))
        let createdAt = clock.now
        /// Bytes of PCM that the engine decoded from compressed audio.
        let decoded = LockedValue(0)
        func encoder() -> ListenMessages {
            ListenMessages(
                request: request, query: query, model: ListenModel(query.model, speaksSubQ: settings.speaksSubQ),
                channels: input.audio.options.channels, createdAt: createdAt, speaksSubQ: settings.speaksSubQ)
        }
        if settings.speaksSubQ {
            let greeting = encoder().metadata(duration: 0, hash: SHA256().finalize())
            try await socket.send(greeting)
            try await sink?(greeting)
        }
        // The engine starts once the format is known.
        var first: ByteBuffer?
        var vocabulary: [String]?
        var isFinalized = false
        waiting: while first == nil {
            switch try await input.next() {
            case .samples(let samples): first = samples
            case .command(.finalize):
                first = try input.audio.decodeUndecided()
                isFinalized = first != nil
                if isFinalized { break waiting }
                try await engine.withSession(options(input), emit: emit(encoder(), input.audio.options, decoded, sink))
                {
                    try await $0.finalize()
                }
            case .command(let command):
                if let words = try await answer(command, encoder()) { vocabulary = words }
            case nil:
                first = try input.audio.decodeUndecided()
                break waiting
            }
        }
        if let first {
            try await engine.withSession(options(input), emit: emit(encoder(), input.audio.options, decoded, sink)) {
                session in
                if let vocabulary { try await session.expect(vocabulary) }
                if input.audio.options.codec == nil { try await recording?.take(first, input.audio.options) }
                try await session.feedInPieces(first)
                if isFinalized { try await session.finalize() }
                while !input.hasEnded, let message = try await input.next() {
                    switch message {
                    case .samples(let samples):
                        if input.audio.options.codec == nil {
                            try await recording?.take(samples, input.audio.options)
                        }
                        // Time spent waiting for a slow recogniser does not count as idle.
                        try await idle.whileBusy { try await session.feedInPieces(samples) }
                    case .command(.finalize): try await idle.whileBusy { try await session.finalize() }
                    case .command(let command):
                        if let words = try await answer(command, encoder()) { try await session.expect(words) }
                    }
                }
                // Results of the remaining audio may take any time.
                idle.end()
                try await session.close()
            }
        }
        if input.hasEnded { try await recording?.commit() } else { try await recording?.breakOff() }
        input.audio.count(decoded: decoded.withLock { $0 })
        let hash = input.hash.finalize()
        let metadata = encoder().metadata(duration: input.audio.duration, hash: hash)
        try await socket.send(metadata)
        try await sink?(metadata)
        return .normal
    }

    private func options(_ input: Input) -> LiveOptions {
        var options = input.audio.options
        options.tenant = tenant
        options.language = options.language ?? recording?.language
        // Stored words are always punctuated, whatever the client asked for.
        if recording != nil { options.punctuate = true }
        return options
    }

    private func emit(
        _ encoder: ListenMessages, _ options: LiveOptions, _ decoded: LockedValue<Int>, _ sink: StreamCallback.Sink?
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
                    try await recording?.take(result)
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
                try await socket.send(message, size: Self.size(of: event))
            } else {
                // The result is stored, so a client that has disconnected is no error.
                try? await socket.send(message, size: Self.size(of: event))
            }
            try await sink?(message)
        }
    }

    /// About the bytes of an event's message. A service may find thousands of words in one.
    private static func size(of event: LiveEvent) -> Int {
        guard case .result(let result) = event else { return 0 }
        return result.words.reduce(500) { $0 + 150 + 3 * $1.text.utf8.count }
    }

    /// Closes a socket that was idle too long (streaming.md 1.7).
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

    /// Answers a command.
    /// - Returns: The new likely words, if the command replaced them.
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
