import Foundation
package import NIOPosix
package import ScribeDomain

/// A transcriber with limits around it: how long it may take, how much it does at a time, and when it is left alone.
package struct GuardedTranscriber: Transcriber {
    /// The limits.
    package struct Policy: Hashable, Sendable {
        /// For any recording.
        package var timeLimit: Duration
        /// More for each second of audio.
        package var timeLimitPerSecond: Duration
        /// How many recognitions run at the same time.
        package var concurrency: Int
        /// After how many failures in a row the service is left alone, and for how long.
        package var failuresToOpen: Int
        package var openTime: Duration

        package init(
            timeLimit: Duration = .seconds(120), timeLimitPerSecond: Duration = .seconds(1), concurrency: Int = 4,
            failuresToOpen: Int = 5, openTime: Duration = .seconds(15)
        ) {
            self.timeLimit = timeLimit
            self.timeLimitPerSecond = timeLimitPerSecond
            self.concurrency = concurrency
            self.failuresToOpen = failuresToOpen
            self.openTime = openTime
        }
    }

    private let base: any Transcriber
    private let fallback: (any Transcriber)?
    private let policy: Policy
    private let circuit: Circuit
    private let slots: Slots
    private let clock: ScribeClock
    private let files: NIOThreadPool

    /// - Parameter fallback: transcribes while the circuit is open, and when the last attempt has failed.
    package init(
        _ base: any Transcriber, fallback: (any Transcriber)? = nil, policy: Policy, clock: ScribeClock,
        files: NIOThreadPool
    ) {
        self.base = base
        self.fallback = fallback
        self.policy = policy
        circuit = Circuit(failuresToOpen: policy.failuresToOpen, openTime: policy.openTime / .seconds(1))
        slots = Slots(count: policy.concurrency)
        self.clock = clock
        self.files = files
    }

    package var name: String { base.name }

    package var condition: TranscriberCondition {
        circuit.timeLeft(at: clock.now) == nil ? base.condition : .unavailable
    }

    package func transcribe(_ recording: Recording) async throws -> RecognisedSpeech {
        do {
            if let left = circuit.admit(at: clock.now) {
                throw TranscriptionFailure(
                    .transcriptionFailed, "\(name) is left alone after failures in a row", isRetryable: true,
                    retryAfter: left, origin: .refusal)
            }
            return try await slots.run(for: recording.tenant) {
                do {
                    let speech = try await limited(recording)
                    circuit.succeeded()
                    return speech
                } catch let failure as TranscriptionFailure where failure.origin == .service {
                    circuit.failed(at: clock.now)
                    throw failure
                } catch {
                    // What lies in the audio says nothing of the service.
                    circuit.released()
                    throw error
                }
            }
        } catch let failure as TranscriptionFailure where failure.mayBeRecognisedElsewhere {
            guard let fallback, recording.isLastAttempt || !failure.isRetryable || condition == .unavailable else {
                throw failure
            }
            return try await fallback.transcribe(recording)
        }
    }

    private func limited(_ recording: Recording) async throws -> RecognisedSpeech {
        let seconds = try? await files.runIfActive {
            try AudioFormat(reading: AudioBytes(file: recording.path)).duration
        }
        let limit = policy.timeLimit + policy.timeLimitPerSecond * (seconds ?? 0)
        let late = TranscriptionFailure(
            .transcriptionTimeout, "\(base.name) took longer than \(limit)", isRetryable: true)
        return try await withTimeLimit(limit, clock: clock, failure: late) { try await base.transcribe(recording) }
    }
}

extension TranscriptionFailure {
    /// Whether another service may do better; not where there is nothing in the audio.
    fileprivate var mayBeRecognisedElsewhere: Bool { code == .transcriptionFailed || code == .transcriptionTimeout }
}
