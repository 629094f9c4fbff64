import Basics
import Engines
import Logging
import ServiceLifecycle

/// Service that checks whether an engine can be reached: at the start, then once a minute while its last request has
/// failed.
struct EngineProbe: Service {
    /// Role of the engine in the log: `transcriber` or `note writer`.
    let role: String
    let engine: any Engine
    let clock: WallClock
    let logger: Logger

    static let interval: Duration = .seconds(60)

    func run() async throws {
        await cancelWhenGracefulShutdown {
            var known = await engine.probe()
            report(known)
            while (try? await clock.sleep(for: Self.interval, as: .engineProbe)) != nil {
                guard engine.hasFailedLast else { continue }
                let found = await engine.probe()
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
                "the \(role) cannot be reached",
                metadata: [
                    "engine": "\(engine.name)", "asked": "\(failure.asked)", "answer": "\(failure.answer)",
                ])
        } else {
            logger.notice("the \(role) can be reached", metadata: ["engine": "\(engine.name)"])
        }
    }
}
