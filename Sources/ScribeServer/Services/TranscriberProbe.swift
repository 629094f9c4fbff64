import Basics
import Engines
import Logging
import ServiceLifecycle

/// Service that checks whether the recogniser can be reached: at the start, then once a minute while its last request
/// has failed.
struct TranscriberProbe: Service {
    let transcriber: any Transcriber
    let clock: WallClock
    let logger: Logger

    static let interval: Duration = .seconds(60)

    func run() async throws {
        await cancelWhenGracefulShutdown {
            var known = await transcriber.probe()
            report(known)
            while (try? await clock.sleep(for: Self.interval, as: .recogniserProbe)) != nil {
                guard transcriber.hasFailedLast else { continue }
                let found = await transcriber.probe()
                if found != known { report(found) }
                known = found
            }
        }
        try? await gracefulShutdown()
    }

    private func report(_ failure: FailedProbe?) {
        guard !Task.isCancelled else { return }
        if let failure {
            logger.warning(
                "the transcriber cannot be reached",
                metadata: [
                    "transcriber": "\(transcriber.name)", "asked": "\(failure.asked)", "answer": "\(failure.answer)",
                ])
        } else {
            logger.notice("the transcriber can be reached", metadata: ["transcriber": "\(transcriber.name)"])
        }
    }
}
