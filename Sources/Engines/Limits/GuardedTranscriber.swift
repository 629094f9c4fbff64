package import Basics
import Foundation
package import NIOPosix
package import ScribeDomain

/// Transcriber with an ``EngineGuard``, and optionally a fallback transcriber.
package struct GuardedTranscriber: WrappingTranscriber {
    package let base: any Transcriber
    private let fallback: (any Transcriber)?
    private let policy: EngineGuard.Policy
    private let limits: EngineGuard
    private let files: NIOThreadPool

    /// Wraps a transcriber.
    /// - Parameter fallback: transcribes while the circuit is open, and after the last attempt has failed.
    package init(
        _ base: any Transcriber, fallback: (any Transcriber)? = nil, policy: EngineGuard.Policy, clock: WallClock,
        files: NIOThreadPool
    ) {
        self.base = base
        self.fallback = fallback
        self.policy = policy
        limits = EngineGuard(base, policy: policy, clock: clock)
        self.files = files
    }

    package var condition: EngineCondition { limits.condition }
    package var hasFailedLast: Bool { limits.hasFailedLast }

    package func probe() async -> FailedProbe? { await limits.probe() }

    package func transcribe(_ recording: Recording) async throws -> RecognisedSpeech {
        do {
            return try await limits.run(
                for: recording.tenant, within: { await limit(for: recording) },
                codes: (.transcriptionFailed, .transcriptionTimeout)
            ) { [base] in try await base.transcribe(recording) }
        } catch let failure as EngineFailure where failure.mayBeRecognisedElsewhere {
            guard let fallback, recording.isLastAttempt || !failure.isRetryable || condition == .unavailable else {
                throw failure
            }
            return try await fallback.transcribe(recording)
        }
    }

    private func limit(for recording: Recording) async -> Duration {
        let seconds = try? await recording.audio.read(on: files) { try AudioFormat(reading: $0).duration }
        return policy.timeLimit + policy.timeLimitPerSecond * (seconds ?? 0)
    }
}

extension EngineFailure {
    /// Whether another service may succeed; false if the audio itself has nothing to recognise.
    fileprivate var mayBeRecognisedElsewhere: Bool { code == .transcriptionFailed || code == .transcriptionTimeout }
}
