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
            await cancelWhenGracefulShutdown { () -> Known in
                var change = 0
                var known = Known()
                repeat {
                    let news = journal.news(after: change)
                    if !news.entries.isEmpty {
                        known = await EventLoopOffload.run(bytes: .max) { [known] in
                            var known = known
                            for entry in news.entries where !Task.isCancelled {
                                known.note(match.verdict(for: index.shown(entry)), of: entry.number)
                            }
                            return known
                        }
                    }
                    change = news.change
                    if isMet(by: known, gone: match.gone(from: journal)) { return known }
                    await journal.wait(after: change)
                } while !Task.isCancelled
                return known
            }
        }
        let timer = Task {
            try? await journal.clock.sleep(for: limit, as: .journal)
            waiting.cancel()
        }
        defer { timer.cancel() }
        let known = await withTaskCancellationHandler {
            await world.end.watched(by: { waiting.cancel() }) { await waiting.value }
        } onCancel: {
            waiting.cancel()
        }
        return try await EventLoopOffload.run(bytes: .max) {
            try outcome(in: journal, index, known)
        }
    }
}
