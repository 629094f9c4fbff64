package import Basics
import Foundation
import NIOCore
import NIOWebSocket
import Outbound
import ScribeDomain

/// Live engine on Deepgram's `/v1/listen` (streaming.md 1) and compatible services: forwards audio and returns results.
/// After a broken connection the engine sends the audio without final results again over the next connection.
package struct DeepgramLiveEngine: LiveEngine {
    package let name = "deepgram"
    private let service: SpeechService
    private let circuit: CircuitBreaker
    private let clock: WallClock
    private let identifiers: IdentifierSource
    /// Time limit for the service to end the stream, after all audio was sent.
    private let timeLimit: Duration

    /// Model for requests if neither configuration nor client names one.
    private static let usualModel = "nova-3-medical"
    /// Most connections in a row that may break without a result.
    private static let attempts = 5
    /// Interval of keep-alive messages: half the time after which the service ends a silent stream.
    private static let keepAliveTime: Duration = .seconds(5)
    /// Most results that may wait for a client.
    private static let maxEvents = 1000
    /// Most keep-alive messages without a sign of the service before the connection counts as lost.
    private static let maxSilence = 4

    package var condition: EngineCondition {
        circuit.timeLeft(at: clock.now) == nil ? .available : .unavailable
    }

    package init(service: SpeechService, policy: EngineGuard.Policy, identifiers: IdentifierSource, clock: WallClock) {
        self.service = service
        circuit = CircuitBreaker(failuresToOpen: policy.failuresToOpen, openTime: policy.openTime / .seconds(1))
        timeLimit = policy.timeLimit
        self.identifiers = identifiers
        self.clock = clock
    }

    package func withSession(
        _ options: LiveOptions, emit: @escaping @Sendable (LiveEvent) async throws -> Void,
        _ body: (inout any LiveSession) async throws -> Void
    ) async throws {
        var headers: [(String, String)] = []
        if let key = service.settings.key { headers.append(("Authorization", "Token \(key)")) }
        let socket = try OutboundSocket(
            try address(options), headers: headers, trust: service.trust, identifiers: identifiers)
        let conversation = UpstreamStream(options, socket)
        // A separate task emits events, so that the end of a connection does not interrupt it.
        let events = BoundedQueue<LiveEvent>(limit: Self.maxEvents)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                do {
                    while let event = await events.next() { try await emit(event) }
                } catch {
                    await events.finish(throwing: error)
                    await conversation.failed(error)
                    throw error
                }
            }
            group.addTask {
                do {
                    try await converse(conversation, socket) { try await events.add($0, weight: 1) }
                    await events.finish()
                } catch {
                    await conversation.failed(error)
                    if let failure = error as? EngineFailure { try? await events.add(.failed(failure)) }
                    await events.finish()
                    throw error
                }
            }
            var session: any LiveSession = conversation
            do {
                try await body(&session)
                group.addTask {
                    try await clock.sleep(for: timeLimit, as: .timeLimit)
                    throw EngineFailure(.transcriptionTimeout, "the service did not end the stream", origin: .service)
                }
                // Waits for the two working tasks, not for the timeout.
                for _ in 0..<2 { try await group.next() }
                group.cancelAll()
            } catch {
                group.cancelAll()
                await events.finish(throwing: error)
                throw error
            }
        }
    }

    /// Opens one connection after another until the stream is over.
    private func converse(
        _ conversation: UpstreamStream, _ socket: OutboundSocket,
        _ emit: @escaping @Sendable (LiveEvent) async throws -> Void
    ) async throws {
        var failures = 0
        while await !conversation.isOver {
            if failures > 0 {
                try await clock.sleep(for: .milliseconds(50 << failures), as: .upstream)
            }
            if let left = circuit.admit(at: clock.now) {
                throw EngineFailure(
                    .transcriptionFailed, "\(name) is left alone after failures in a row", isRetryable: true,
                    retryAfter: left, origin: .refusal)
            }
            do {
                let channel = try await socket.open()
                circuit.succeeded()
                let isProgress = try await converse(conversation, over: channel, socket, emit)
                failures = isProgress ? 0 : failures + 1
            } catch UpstreamEnd.refused(let code) {
                throw EngineFailure(.transcriptionFailed, "the service ends the stream with \(code)")
            } catch UpstreamEnd.untold(let error) {
                throw error
            } catch {
                circuit.released()
                try Task.checkCancellation()
                circuit.failed(at: clock.now)
                failures += 1
            }
            await conversation.disconnected()
            if failures >= Self.attempts {
                throw EngineFailure(.transcriptionFailed, "the service does not keep a connection", isRetryable: true)
            }
        }
    }

    /// Reason for making no further connection.
    private enum UpstreamEnd: Error {
        /// The service ended the stream with this close code; another connection would not help.
        case refused(UInt16)
        /// The client takes no more results.
        case untold(any Error)
    }

    /// Runs the conversation over one connection.
    /// - Returns: whether a result arrived; a greeting is no progress.
    /// - Throws: ``UpstreamEnd``, `CancellationError`.
    private func converse(
        _ conversation: UpstreamStream, over channel: OutboundSocket.Channel, _ socket: OutboundSocket,
        _ emit: @escaping @Sendable (LiveEvent) async throws -> Void
    ) async throws -> Bool {
        let signs = LockedValue(0)
        let end = LockedValue<UpstreamEnd?>(nil)
        let outgoing = await conversation.connected()
        // The next connection replaces a broken one.
        try? await channel.executeThenClose { inbound, outbound in
            await withTaskGroup(of: Void.self) { group in
                group.addTask {
                    while let frame = await outgoing.next() {
                        guard (try? await outbound.write(frame)) != nil else { return }
                    }
                }
                group.addTask {
                    var silence = (signs: -1, times: 0)
                    while silence.times < Self.maxSilence {
                        guard (try? await clock.sleep(for: Self.keepAliveTime, as: .upstream)) != nil else { return }
                        let now = signs.withLock { $0 }
                        silence = now == silence.signs ? (now, silence.times + 1) : (now, 0)
                        await conversation.keepAlive(outgoing)
                    }
                }
                group.addTask {
                    do {
                        for try await frame in inbound {
                            signs.withLock { $0 += 1 }
                            let isClose = frame.opcode == .connectionClose
                            // A close is answered, and no frame follows it (RFC 6455, 5.5.1). Some services close
                            // the connection only seconds later.
                            if isClose {
                                let answer = socket.frame(.connectionClose, frame.unmaskedData)
                                channel.channel.writeAndFlush(answer, promise: nil)
                            }
                            try await hear(frame, conversation, outgoing, socket, emit)
                            if isClose { return }
                            if await conversation.isOver { return }
                        }
                    } catch let error as UpstreamEnd {
                        end.withLock { $0 = error }
                    } catch {
                        return
                    }
                }
                // The task that ends first ends the connection.
                await group.next()
                group.cancelAll()
                await outgoing.finish()
            }
        }
        if let end = end.withLock({ $0 }) { throw end }
        try Task.checkCancellation()
        return await conversation.takesNews()
    }

    private func hear(
        _ frame: WebSocketFrame, _ conversation: UpstreamStream, _ outgoing: BoundedQueue<WebSocketFrame>,
        _ socket: OutboundSocket, _ emit: @escaping @Sendable (LiveEvent) async throws -> Void
    ) async throws {
        var payload = frame.unmaskedData
        switch frame.opcode {
        case .text:
            guard let message = DeepgramLiveMessage(Array(payload.readableBytesView)),
                let event = await conversation.event(for: message)
            else { return }
            do {
                try await emit(event)
            } catch {
                throw UpstreamEnd.untold(error)
            }
        case .ping: try? await outgoing.add(socket.frame(.pong, payload))
        case .connectionClose:
            let code: UInt16 = payload.readInteger() ?? 1005
            if code == 1000 { await conversation.ended() }
            if [1002, 1003, 1007, 1008].contains(code) || (4000..<5000).contains(code) {
                throw UpstreamEnd.refused(code)
            }
        default: break
        }
    }

    private func address(_ options: LiveOptions) throws -> URL {
        let model = service.settings.model ?? options.model ?? Self.usualModel
        var query = [
            ("model", model), ("encoding", "linear16"), ("sample_rate", "\(options.sampleRate)"),
            ("channels", "\(options.channels)"), ("multichannel", "\(options.multichannel)"),
            ("interim_results", "\(options.interimResults || options.utteranceEnd != nil)"),
            ("vad_events", "\(options.vadEvents)"), ("punctuate", "\(options.punctuate)"),
            ("smart_format", "\(options.punctuate)"), ("diarize", "\(options.diarize)"),
        ]
        // Without this parameter the service uses its own default.
        if options.isEndpointingExplicit {
            let silence = options.endpointing.map { "\(Int(saturating: $0 / .milliseconds(1)))" }
            query.append(("endpointing", silence ?? "false"))
        }
        if let limit = options.utteranceEnd {
            query.append(("utterance_end_ms", "\(Int(saturating: limit / .milliseconds(1)))"))
        }
        if let language = options.language { query.append(("language", language == "auto" ? "multi" : language)) }
        query += options.vocabulary.map { (model.hasPrefix("nova-3") ? "keyterm" : "keywords", $0) }
        return try service.listenURL(query)
    }
}
