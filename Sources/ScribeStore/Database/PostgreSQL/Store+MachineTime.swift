package import Foundation

extension Store {
    /// Most seconds between the clocks of this machine and of PostgreSQL: leases end by the machines' clocks.
    private static let maxSkew = 60.0

    /// Compares the clocks of this machine and of PostgreSQL.
    /// - Throws: ``Problem/noPostgreSQL(reason:)`` if they differ by more than a minute.
    package func requireMachineTime(near now: Date) async throws {
        let row = try await read { try $0.row("SELECT extract(epoch FROM clock_timestamp()) AS seconds") }
        let skew = abs((row?["seconds"] as Double? ?? 0) - now.timeIntervalSince1970)
        guard skew <= Self.maxSkew else {
            throw Problem.noPostgreSQL(
                reason: "its clock and this machine's differ by \(Int(skew)) s; set both by NTP")
        }
    }
}
