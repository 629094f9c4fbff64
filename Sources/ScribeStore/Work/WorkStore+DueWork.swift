package import Foundation

/// Work of a store that is due or in progress, as counts.
package struct DueWork: Hashable, Sendable {
    package let jobs: Int
    package let deliveries: Int
    package let sessions: Int
    package let conversations: Int

    package var isEmpty: Bool { jobs + deliveries + sessions + conversations == 0 }
}

extension WorkStore {
    /// The next time at which work is due, past or not; nil without work.
    package func nextDueTime() async throws -> Date? {
        try await read { db in
            let row = try db.row(
                """
                SELECT min(time) AS time FROM (
                    SELECT min(run_at) AS time FROM jobs WHERE state = 'pending'
                    UNION ALL SELECT min(run_at) FROM deliveries WHERE state = 'pending'
                    UNION ALL SELECT min(expires_at) FROM transactions WHERE expires_at IS NOT NULL
                    UNION ALL SELECT min(finished_at + timeout * 1000) FROM conversations WHERE status = 'in_progress') AS times
                """)
            return (row?["time"] as Int64?).map(Date.init(milliseconds:))
        }
    }

    /// Work that is due at a time, or in progress.
    package func dueWork(at now: Date) async throws -> DueWork {
        try await read { db in
            let row = try db.row(
                """
                SELECT (SELECT count(*) FROM jobs WHERE state = 'running' OR run_at <= ?1) AS jobs,
                    (SELECT count(*) FROM deliveries
                        WHERE state = 'sending' OR (state = 'pending' AND run_at <= ?1)) AS deliveries,
                    (SELECT count(*) FROM transactions WHERE expires_at <= ?1) AS sessions,
                    (SELECT count(*) FROM conversations WHERE status = 'processing'
                        OR (status = 'in_progress' AND finished_at + timeout * 1000 <= ?1)) AS conversations
                """, [now.milliseconds])
            return DueWork(
                jobs: row?["jobs"] ?? 0, deliveries: row?["deliveries"] ?? 0, sessions: row?["sessions"] ?? 0,
                conversations: row?["conversations"] ?? 0)
        }
    }
}
