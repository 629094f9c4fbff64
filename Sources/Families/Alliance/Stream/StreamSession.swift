import Connections
import Engines
import Foundation
import NIOCore
import ScribeDomain
import ScribeHTTP
import ScribeRuntime

/// Serves one audio WebSocket of a protocol session, from its first message to its close.
///
/// Closing the socket keeps the audio and starts no processing; ending the session does (M-63).
struct StreamSession: Sendable {
    /// Time between two notes of messages, in seconds.
    private static let notePause: TimeInterval = 30

    let recording: LiveRecording
    let socket: AudioSocket
    let clock: WorldClock
    /// Notes a message, which keeps the session open.
    let note: @Sendable () async throws -> Void

    func serve(_ messages: WebSocketMessages.Iterator, _ idle: IdleTimeout) async throws -> WebSocketClosure {
        var audio = StreamAudio()
        var messages = messages
        var noted: Date?
        while let message = try await messages.next() {
            socket.messageBegan()
            defer { socket.messageEnded() }
            let now = clock.now
            if noted.map({ abs(now.timeIntervalSince($0)) >= Self.notePause }) ?? true {
                // A note that cannot be stored costs no audio: that may still find room.
                try? await note()
                noted = now
            }
            guard let samples = try await audio.samples(in: message) else {
                if audio.isStopped { break }
                continue
            }
            idle.recordActivity()
            try await recording.take(samples, audio.options)
            try await recording.cut()
        }
        return .normal
    }

    /// Closes a stream that sent no audio for too long; pings do not count as audio.
    static let idle = WebSocketClosure(1001, "No audio came for too long")

    static func closure(for error: any Error) -> WebSocketClosure? {
        guard let failure = error as? ScribeError else { return nil }
        return failure.kind == .unavailable
            ? WebSocketClosure(1011, "Storage is not available") : WebSocketClosure(1008, failure.code)
    }
}
