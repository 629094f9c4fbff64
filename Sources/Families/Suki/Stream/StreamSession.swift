import Basics
import Connections
import Engines
import Foundation
import HTTPTypes
import NIOCore
import ScribeDomain
import ScribeHTTP
import ScribeRuntime

/// Serves one WebSocket of an ambient session, from its first message to its close.
///
/// Closing the socket does not end the session; `end` and CANCEL do.
struct StreamSession: Sendable {
    let sessions: AmbientSessions
    let id: TransactionID
    let principal: Principal
    let place: AudioSocket
    let clock: WallClock
    private let recording = LockedValue<AmbientSessions.Segment?>(nil)

    /// Longest time without audio and without a `KEEP_ALIVE` (suki.md 6.3).
    static let idleTime: Duration = .seconds(25)
    static let idle = WebSocketClosure(1001, "Nothing was heard for too long")
    /// Longest pause with `KEEP_ALIVE` messages only, in seconds.
    private static let longestPause = 1800.0

    /// Sends the error as a text message, and returns the closure.
    static func explain(_ error: any Error, _ socket: WebSocket) async throws -> WebSocketClosure? {
        let (code, refusal): (UInt16, Refusal)
        switch error {
        case let problem as StreamMessage.Problem:
            (code, refusal) = (problem.code, Refusal(.badRequest, code: "invalid_request", problem.detail))
        case let failure as ScribeError:
            code = [.unavailable, .refused].contains(failure.kind) ? 1011 : 1008
            refusal = SukiErrors().refusal(for: failure)
        default: return nil
        }
        try await socket.send(SukiErrors.envelope(refusal))
        return WebSocketClosure(code, refusal.code)
    }

    /// Ends the current audio segment, and keeps its audio.
    func endRecording() async throws {
        guard let before = recording.withLock({ $0.take() }) else { return }
        try await sessions.end(before, of: id, for: principal)
    }

    func serve(_ messages: WebSocketMessages.Iterator, _ idle: IdleTimeout) async throws -> WebSocketClosure {
        var messages = messages
        var hasRun = false
        var pausedAt: Date?
        while let message = try await messages.next() {
            let message = try await StreamMessage.read(message)
            if !message.isEmpty { idle.recordActivity() }
            place.messageBegan()
            defer { place.messageEnded() }
            switch message {
            case .start(let time):
                try await endRecording()
                let segment = try await idle.whileBusy { try await sessions.record(from: time, in: id, of: principal) }
                recording.withLock { $0 = segment }
            case .audio(let samples):
                guard let recording = recording.withLock({ $0 }) else {
                    throw StreamMessage.Problem(1008, "START_TIME comes before the audio")
                }
                if message.isEmpty { continue }
                pausedAt = nil
                if !hasRun { try await sessions.advance(id, to: .running, of: principal) }
                hasRun = true
                try await idle.whileBusy {
                    try await recording.stream.take(samples, LiveOptions())
                    try await recording.stream.cut()
                }
            case .end: return .normal
            case .event(.pause): pausedAt = pausedAt ?? clock.now
            case .event(.resume): pausedAt = nil
            case .event(.keepAlive):
                if let pausedAt, clock.now.timeIntervalSince(pausedAt) >= Self.longestPause {
                    throw WebSocketClosure(1001, "Paused for too long")
                }
            case .event(.cancel):
                try await sessions.cancel(id, of: principal)
                if let before = recording.withLock({ $0.take() }) {
                    await sessions.discard(before, of: id, for: principal)
                }
                return .normal
            // The stream is over; the session stays open for further streams.
            case .event(.abort), .event(.end): return .normal
            }
        }
        return .normal
    }
}
