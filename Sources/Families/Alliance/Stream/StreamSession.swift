import Engines
import NIOCore
import ScribeDomain
import ScribeHTTP
import ScribeRuntime

/// One socket of a streamed session, from its first message to its end. Closing it keeps the audio, and starts nothing:
/// the session's end does (row 63).
struct StreamSession: Sendable {
    let recording: LiveRecording

    func serve(_ messages: WebSocketMessages) async throws -> WebSocketClosure {
        var audio = StreamAudio()
        var end = WebSocketClosure.normal
        do {
            for try await message in messages {
                guard let samples = try audio.samples(in: message) else {
                    if audio.isStopped { break }
                    continue
                }
                try await recording.take(samples, audio.options)
                try await recording.cut()
            }
        } catch let closure as WebSocketClosure {
            end = closure
        } catch let failure as ScribeError {
            throw Self.closure(for: failure)
        } catch {
            // The connection is broken, or the server stops; what came over it counts.
        }
        // By a task of its own: this one may be cancelled, and what has come is to be kept.
        do {
            try await Task { try await recording.breakOff() }.value
        } catch let failure as ScribeError {
            throw Self.closure(for: failure)
        }
        try Task.checkCancellation()
        return end
    }

    private static func closure(for failure: ScribeError) -> WebSocketClosure {
        failure.kind == .unavailable
            ? WebSocketClosure(1011, "Storage is not available") : WebSocketClosure(1008, failure.code)
    }
}
