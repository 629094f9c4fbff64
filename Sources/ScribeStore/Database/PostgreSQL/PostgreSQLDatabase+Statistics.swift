import Basics
import NIOPosix

/// Statistics of the tables, from which PostgreSQL makes its plans.
///
/// PostgreSQL gathers them once a minute. Until then its plans are made for empty tables. Any index of a table seems as
/// good as another one then, and one of them reads all transactions of a business.
extension PostgreSQLDatabase {
    /// Numbers of a process's writes after which the statistics of tables with few rows are gathered.
    private static let milestones: Set<Int> = [100, 1000, 10_000]

    /// Counts a write, and gathers statistics on a thread of the database when it is time to.
    func countWrite() {
        let count = writes.withLock { count in
            count += 1
            return count
        }
        guard Self.milestones.contains(count) else { return }
        threads.submit { [self] state in
            guard state == .active else { return }
            // Without statistics the statements are slower, until PostgreSQL gathers them itself.
            try? writeBlocking { try $0.run(Self.gathering) }
        }
    }

    private static let gathering = """
        DO $$
        DECLARE
            small regclass;
        BEGIN
            FOR small IN
                SELECT oid FROM pg_class
                WHERE relnamespace = CAST(current_schema() AS regnamespace) AND relkind = 'r' AND reltuples < 10000
            LOOP EXECUTE 'ANALYZE ' || small; END LOOP;
        END $$
        """
}
