import Basics
import Engines
import ScribeDomain

/// Says what it is told, one after the other; the last thing goes on.
package struct ScriptedTranscriber: Transcriber {
    package enum Step { case text(String), failure(EngineFailure), sleep(Duration) }

    package let name = "scripted"
    package let steps: LockedValue<[Step]>
    package let clock: WallClock

    package init(steps: LockedValue<[Step]>, clock: WallClock) {
        self.steps = steps
        self.clock = clock
    }

    package func transcribe(_ recording: Recording) async throws -> RecognisedSpeech {
        switch steps.withLock({ $0.count > 1 ? $0.removeFirst() : $0[0] }) {
        case .text(let text): return RecognisedSpeech(text: text)
        case .failure(let failure): throw failure
        case .sleep(let duration):
            try await clock.sleep(for: duration, as: .fixture)
            return RecognisedSpeech(text: "late")
        }
    }
}
