import Foundation

/// Leases by the machine's clock: each job, lane of deliveries and chore belongs to one process at a time.
///
/// A process renews its leases while it works. The leases of a dead process expire. One of them has the process's own
/// name: a running job belongs to its process while that has a lease.
extension WorkStore {
    /// Makes the running jobs of former processes pending again. Blocking.
    ///
    /// A process that is alone takes over all jobs and deliveries. Any other process takes over jobs of dead processes.
    static func takeOver(_ database: any StoreEngine, for holder: LeaseHolder) throws {
        try database.writeBlocking { db in
            if holder.isAlone {
                try db.run("UPDATE jobs SET state = 'pending' WHERE state = 'running'")
                try db.run("UPDATE deliveries SET state = 'pending' WHERE state = 'sending'")
                try db.run("DELETE FROM leases")
            } else {
                _ = try Self.forgetDeadProcesses(database, for: holder, in: db)
            }
        }
    }

    /// Renews the leases of this process, and takes over jobs of dead processes.
    ///
    /// A process that is not alone calls this every third of ``LeaseHolder/lifetime``.
    /// - Returns: the number of jobs that were taken over.
    package func renewLeases() async throws -> Int {
        guard !holder.isAlone else { return 0 }
        return try await database.write(.none) { [holder, database] db, changes in
            try db.run("UPDATE leases SET lease_until = ? WHERE owner = ?", [holder.end, holder.id])
            let count = try Self.forgetDeadProcesses(database, for: holder, in: db)
            if count > 0 { changes += Job.Kind.allCases.map(Change.work) }
            return count
        }
    }

    /// Takes or renews the lease of a chore.
    /// - Returns: false while another process has the lease.
    package func holds(_ chore: Chore) async throws -> Bool {
        guard !holder.isAlone else { return true }
        return try await database.write(.none) { [holder] db in
            try Self.lease("chore \(chore.rawValue)", to: holder, in: db)
        }
    }

    /// Names of the lanes with scheduled deliveries on which no other process has a valid lease.
    package func freeLanes() async throws -> [String] {
        try await read { [holder] db in
            try db.rows(
                """
                SELECT DISTINCT lane FROM deliveries WHERE settled_at IS NULL AND run_at IS NOT NULL AND NOT EXISTS (
                    SELECT 1 FROM leases WHERE name = 'lane ' || lane AND owner <> ?1 AND lease_until > ?2)
                """, [holder.id, holder.now]
            ).map { $0["lane"] }
        }
    }

    /// Ends the lease of a lane, so that another process need not wait for its expiry.
    package func leave(lane: String) async throws {
        guard !holder.isAlone else { return }
        try await database.write(.lane(lane)) { [holder] db in
            try db.run("DELETE FROM leases WHERE name = ? AND owner = ?", ["lane \(lane)", holder.id])
        }
    }

    // MARK: Within a SQL transaction

    /// Takes or renews the lease of a lane. Deliveries that a former holder had begun to send are sent again.
    /// - Returns: false while another process has the lease.
    static func leaseLane(_ lane: String, to holder: LeaseHolder, in db: any StoreSession) throws -> Bool {
        guard !holder.isAlone else { return true }
        let former = try db.row("SELECT owner FROM leases WHERE name = ?", ["lane \(lane)"])?["owner"] as String?
        guard try lease("lane \(lane)", to: holder, in: db) else { return false }
        if former != holder.id {
            try db.run("UPDATE deliveries SET state = 'pending' WHERE lane = ? AND state = 'sending'", [lane])
        }
        return true
    }

    static func lease(_ name: String, to holder: LeaseHolder, in db: any StoreSession) throws -> Bool {
        try db.changed(
            """
            INSERT INTO leases (name, owner, lease_until) VALUES (?1, ?2, ?3)
            ON CONFLICT (name) DO UPDATE SET owner = excluded.owner, lease_until = excluded.lease_until
            WHERE leases.owner = excluded.owner OR leases.lease_until <= ?4
            """, [name, holder.id, holder.end, holder.now]) > 0
    }

    /// Removes the leases and the open sockets of processes that renew no lease any more, and makes their running jobs
    /// pending again.
    /// - Returns: the number of jobs.
    private static func forgetDeadProcesses(
        _ database: any StoreEngine, for holder: LeaseHolder, in db: any StoreSession
    ) throws -> Int {
        _ = try lease("process \(holder.id)", to: holder, in: db)
        try db.run("DELETE FROM leases WHERE lease_until <= ?", [holder.now])
        if database is PostgreSQLDatabase {
            try db.run("DELETE FROM open_streams WHERE owner NOT IN (SELECT owner FROM leases)")
        }
        return try db.changed(
            "UPDATE jobs SET state = 'pending' WHERE state = 'running' AND owner NOT IN (SELECT owner FROM leases)")
    }
}
