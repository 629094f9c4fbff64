package import Foundation
package import ScribeDomain

/// A login on a device without a form, from its code to its end (RFC 8628).
package struct DeviceLogin: Hashable, Sendable {
    /// What an owner of the code has decided.
    package enum Decision: Hashable, Sendable {
        case pending
        case denied
        /// The device acts for this client.
        case approved(ClientID)
    }

    /// Eight letters and digits, without the hyphen that people see.
    package let userCode: String
    package let redirect: String?
    package let decision: Decision
    /// By the machine's clock.
    package let expiresAt: Date
    /// Of the world's clock when the login began, in seconds.
    package let clockOffset: TimeInterval
    /// When the device asked last, by the machine's clock.
    package let askedAt: Date?
}

extension Store {
    /// Begins a device login, and removes those that are over. An address that has as many as it may have loses its
    /// oldest; where there are too many in all, the address with the most does.
    /// - Parameters:
    ///   - deviceHash: the SHA-256 of the device code.
    ///   - codes: user codes to choose from.
    ///   - limits: how many logins there may be, in all and of one address.
    ///   - approver: the client that has approved it from the start.
    ///   - period: its lifetime, by the machine's clock.
    /// - Returns: the user code; nil where all of `codes` are taken.
    package func beginDeviceLogin(
        deviceHash: [UInt8], codes: [String], redirect: String?, approvedBy approver: ClientID?, from address: String,
        limits: (all: Int, address: Int), _ period: RefreshPeriod
    ) async throws -> String? {
        try await database.write(.deviceLogins) { db in
            try db.run("DELETE FROM device_logins WHERE expires_at <= ?", [period.now.milliseconds])
            let taken = try db.rows(
                "SELECT user_code FROM device_logins WHERE user_code IN \(db.list(1))", [try StoredJSON.text(codes)]
            ).map { $0["user_code"] as String }
            guard let code = codes.first(where: { !taken.contains($0) }) else { return nil }
            try Self.makeRoom(for: address, limits, in: db)
            try db.insert(into: "device_logins").values([
                "device_hash": Data(deviceHash), "user_code": code, "redirect": redirect, "address": address,
                "state": approver == nil ? "pending" : "approved", "client_id": approver?.rawValue,
                "expires_at": period.end.milliseconds, "clock_offset": period.offsetInMilliseconds,
            ])
            return code
        }
    }

    /// Decides a login that nobody has denied.
    /// - Parameters:
    ///   - client: whom the device acts for; nil denies it.
    ///   - isOver: whether a login's time is over.
    /// - Returns: the login as it was; nil where there is none of that code.
    package func decideDeviceLogin(
        _ userCode: String, for client: ClientID?, isOver: @escaping @Sendable (DeviceLogin) -> Bool
    ) async throws -> DeviceLogin? {
        try await database.write(.deviceLogins) { db in
            let row = try db.row(
                "SELECT * FROM device_logins WHERE user_code = ? AND state <> 'denied'", [userCode])
            guard let row, case let login = try DeviceLogin(row: row), !isOver(login) else { return nil }
            try db.run(
                "UPDATE device_logins SET state = ?, client_id = ? WHERE id = ?",
                [client == nil ? "denied" : "approved", client?.rawValue, row["id"] as Int64])
            return login
        }
    }

    /// Notes that the device asks, and ends a login that was decided.
    /// - Parameter judge: throws what the device is refused with before anything is noted.
    /// - Returns: the login as it was; nil where there is none.
    /// - Throws: what `judge` throws.
    package func redeemDeviceLogin(
        deviceHash: [UInt8], at now: Date, _ judge: @escaping @Sendable (DeviceLogin) throws -> Void
    ) async throws -> DeviceLogin? {
        try await database.write(.deviceLogins) { db in
            let row = try db.row("SELECT * FROM device_logins WHERE device_hash = ?", [Data(deviceHash)])
            guard let row else { return nil }
            let login = try DeviceLogin(row: row)
            try judge(login)
            if login.decision == .pending {
                try db.run(
                    "UPDATE device_logins SET asked_at = ? WHERE id = ?", [now.milliseconds, row["id"] as Int64])
            } else {
                try db.run("DELETE FROM device_logins WHERE id = ?", [row["id"] as Int64])
            }
            return login
        }
    }

    // MARK: Within a SQL transaction

    private static func makeRoom(
        for address: String, _ limits: (all: Int, address: Int), in db: any StoreSession
    ) throws {
        let counts = try db.row(
            """
            SELECT count(*) AS count, coalesce(sum(CASE WHEN address = ? THEN 1 ELSE 0 END), 0) AS own
            FROM device_logins
            """, [address])
        let crowded: String
        if counts?["own"] ?? 0 >= limits.address {
            crowded = address
        } else if counts?["count"] ?? 0 >= limits.all {
            let busiest = try db.row(
                "SELECT address FROM device_logins GROUP BY address ORDER BY count(*) DESC, min(id) LIMIT 1")
            crowded = busiest?["address"] ?? address
        } else {
            return
        }
        try db.run(
            "DELETE FROM device_logins WHERE id = (SELECT min(id) FROM device_logins WHERE address = ?)", [crowded])
    }
}

extension DeviceLogin {
    fileprivate init(row: StoredRow) throws {
        let decision: Decision =
            switch row["state"] as String {
            case "approved": .approved(ClientID(row["client_id"]))
            case "denied": .denied
            default: .pending
            }
        self.init(
            userCode: row["user_code"], redirect: row["redirect"], decision: decision,
            expiresAt: Date(milliseconds: row["expires_at"]),
            clockOffset: Double(row["clock_offset"] as Int64) / 1000,
            askedAt: (row["asked_at"] as Int64?).map(Date.init(milliseconds:)))
    }
}
