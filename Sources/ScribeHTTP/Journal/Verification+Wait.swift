import Basics
package import Journal
import ScribeRuntime
import ServiceLifecycle

extension Verification {
    /// Waits until the expectation is met, the time is up, the world ends or the server stops.
    /// - Returns: the last verdict.
    /// - Throws: `CancellationError` once the caller's task is cancelled.
    package func outcome(in journal: Journal, _ index: JournalIndex, within limit: Duration, _ world: World)
        async throws -> Outcome
    {
        let waiting = Task {
            await cancelWhenGracefulShutdown { () -> Set<Int> in
                var change = 0
                var matched: Set<Int> = []
                repeat {
                    let news = journal.news(after: change)
                    if !news.entries.isEmpty {
                        matched = await EventLoopOffload.run(bytes: .max) { [matched] in
                            var matched = matched
                            for entry in news.entries where !Task.isCancelled {
                                if match.holds(for: index.shown(entry)) {
                                    matched.insert(entry.number)
                                } else {
                                    matched.remove(entry.number)
                                }
                            }
                            return matched
                        }
                    }
                    change = news.change
                    if isMet(by: matched.count) { return matched }
                    await journal.wait(after: change)
                } while !Task.isCancelled
                return matched
            }
        }
        let timer = Task {
            try? await journal.clock.sleep(for: limit, as: .journal)
            waiting.cancel()
        }
        defer { timer.cancel() }
        let matched = await withTaskCancellationHandler {
            await world.end.watched(by: { waiting.cancel() }) { await waiting.value }
        } onCancel: {
            waiting.cancel()
        }
        return try await EventLoopOffload.run(bytes: .max) {
            try outcome(among: journal.entries, index, before: matched)
        }
    }
}
