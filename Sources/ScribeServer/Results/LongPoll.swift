import Foundation
import ScribeDomain
import ScribeRuntime
import ScribeStore
import ServiceLifecycle

/// Holds a poll until there is something final to say (C-29), or as long as its client will wait (C-30).
///
/// The wait ends with the change itself: nothing is looked at again and again.
struct LongPoll: Sendable {
    typealias Results = (transaction: Transaction, documents: [ResultDocument])

    let store: Store
    let signals: ChangeSignals
    let clock: ScribeClock
    let limit: Duration

    /// - Throws: ``ScribeError/polledTransactionNotFound``, ``ScribeError/resultNotFound``.
    /// - Parameter departure: of the client, for whom nothing need be held any more then.
    func results(of key: Transaction.Key, query: ResultQuery, until departure: Departure) async throws -> Results {
        try await departure.watched(by: { [signals] in signals.wake(key) }) {
            try await held(key, query, departure)
        }
    }

    private func held(_ key: Transaction.Key, _ query: ResultQuery, _ departure: Departure) async throws -> Results {
        let deadline = clock.now.addingTimeInterval(limit / .seconds(1))
        let changes = signals.changes(of: key)
        while true {
            let results = try await read(key, query)
            let left = deadline.timeIntervalSince(clock.now)
            if query.isImmediate || isFinal(results, query) || left <= 0 || departure.hasHappened { return results }
            do {
                try await cancelWhenGracefulShutdown {
                    try await firstOf(changes, limit: .seconds(left), clock: clock, as: .heldPoll)
                }
            } catch is CancellationError {
                // The server stops: the client hears what there is, and asks again.
                return results
            }
        }
    }

    private func read(_ key: Transaction.Key, _ query: ResultQuery) async throws -> Results {
        guard let results = try await store.results(of: key, andAuthored: query.document) else {
            throw ScribeError.polledTransactionNotFound
        }
        guard !query.select(from: results.documents).isEmpty else { throw ScribeError.resultNotFound }
        return results
    }

    private func isFinal(_ results: Results, _ query: ResultQuery) -> Bool {
        results.transaction.userStatus == .cancelled || results.transaction.isAbandoned(at: clock.now)
            || query.select(from: results.documents).outcome != .inProgress
    }
}
