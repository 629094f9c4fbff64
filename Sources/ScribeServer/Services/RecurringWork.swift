import Basics
import Logging
import ServiceLifecycle

extension WallClock {
    /// Does work again and again until the server stops, each time after a pause.
    /// - Parameter failure: the message about work that failed, which the next time follows all the same.
    func recurring(
        every pause: Duration, as sleeper: Sleeper, failure: String, _ logger: Logger,
        _ work: @escaping @Sendable () async throws -> Void
    ) async {
        await cancelWhenGracefulShutdown {
            while (try? await self.sleep(for: pause, as: sleeper)) != nil {
                do {
                    try await work()
                } catch {
                    guard !(error is CancellationError) else { return }
                    logger.error("\(failure)", metadata: ["error": "\(error)"])
                }
            }
        }
        try? await gracefulShutdown()
    }
}
