import Engines
import Foundation
import HTTPTypes
import NIOCore
import ScribeDomain
import ScribeHTTP
import ScribeRuntime

/// One socket of a session, from its first message to its end. That ends no session: `end` and CANCEL do.
struct StreamSession: Sendable {
    let sessions: AmbientSessions
    let id: TransactionID
    let principal: Principal
    let socket: WebSocket
    let place: AmbientSocket
    let clock: ScribeClock

    /// Without audio, or a sign of life (suki.md 6.3).
    private static let idleTime: Duration = .seconds(25)
    /// Of a pause in which its client gives signs of life, in seconds.
    private static let longestPause = 1800.0

    func serve(_ messages: WebSocketMessages) async throws -> WebSocketClosure {
        let idle = IdleWatch(
            clock: clock, limit: Self.idleTime, closure: WebSocketClosure(1001, "Nothing was heard for too long"))
        return try await withThrowingTaskGroup(of: WebSocketClosure.self) { group in
            group.addTask { try await listen(messages, idle) }
            group.addTask { try await idle.watch() }
            defer { group.cancelAll() }
            do {
                return try await group.next() ?? .normal
            } catch let problem as StreamMessage.Problem {
                return try await refuse(problem.code, "invalid_request", problem.detail, 400)
            } catch let failure as ScribeError {
                let error = SukiError(failure, invalid: "invalid_request")
                let code: UInt16 = [.unavailable, .refused].contains(failure.kind) ? 1011 : 1008
                return try await refuse(code, error.id, error.detail, error.status.code)
            }
        }
    }

    /// Says what is wrong, and closes.
    private func refuse(_ code: UInt16, _ id: String, _ detail: String?, _ status: Int) async throws -> WebSocketClosure
    {
        let body = try ByteBuffer(encoding: SukiErrors.Body(status, id, detail))
        try await socket.send(text: String(buffer: body))
        return WebSocketClosure(code, id)
    }

    private func listen(_ messages: WebSocketMessages, _ idle: IdleWatch) async throws -> WebSocketClosure {
        var recording: AmbientSessions.Segment?
        do {
            let closure = try await take(messages, idle, &recording)
            if let recording { try await sessions.end(recording, of: id, for: principal) }
            return closure
        } catch {
            // However it ends: what has come is kept.
            if let recording { try? await sessions.end(recording, of: id, for: principal) }
            throw error
        }
    }

    private func take(
        _ messages: WebSocketMessages, _ idle: IdleWatch, _ recording: inout AmbientSessions.Segment?
    ) async throws -> WebSocketClosure {
        var hasRun = false
        var pausedAt: Date?
        for try await message in messages {
            let message = try StreamMessage(message)
            idle.heard()
            place.heard()
            defer { place.rests() }
            switch message {
            case .start(let time):
                if let before = recording { try await sessions.end(before, of: id, for: principal) }
                recording = nil
                recording = try await idle.whileBusy { try await sessions.record(from: time, in: id, of: principal) }
            case .audio(let samples):
                guard let recording else { throw StreamMessage.Problem(1008, "START_TIME comes before the audio") }
                guard samples.readableBytes > 0 else { continue }
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
                if let before = recording { await sessions.discard(before, of: id, for: principal) }
                recording = nil
                return .normal
            // The stream is over; the session goes on, and may be streamed to again.
            case .event(.abort), .event(.end): return .normal
            }
        }
        return .normal
    }
}
