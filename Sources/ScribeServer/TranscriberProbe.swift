import Engines
import Logging
import ScribeDomain
import ServiceLifecycle

/// Asks whether the recogniser is there: at the start, then once a minute while the last request to it failed.
struct TranscriberProbe: Service, CustomStringConvertible {
    let transcriber: any Transcriber
    let clock: ScribeClock
    let logger: Logger

    static let interval: Duration = .seconds(60)

    var description: String { "TranscriberProbe" }

    func run() async throws {
        await cancelWhenGracefulShutdown {
            var last = await ask(after: nil)
            while (try? await clock.sleep(for: Self.interval, as: .recogniserProbe)) != nil {
                if transcriber.hasFailedLast { last = await ask(after: last) }
            }
        }
        try? await gracefulShutdown()
    }

    /// - Parameter last: how it failed before, which is not told twice.
    private func ask(after last: FailedProbe?) async -> FailedProbe? {
        let failure = await transcriber.probe()
        guard failure != last, !Task.isCancelled else { return failure }
        if let failure {
            logger.warning(
                "the transcriber cannot be reached",
                metadata: [
                    "transcriber": "\(transcriber.name)", "asked": "\(failure.asked)", "answer": "\(failure.answer)",
                ])
        } else {
            logger.notice("the transcriber can be reached again", metadata: ["transcriber": "\(transcriber.name)"])
        }
        return failure
    }
}
