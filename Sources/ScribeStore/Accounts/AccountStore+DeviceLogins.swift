package import Foundation
package import ScribeDomain

/// Login on a device without a login form, from its code to its end (RFC 8628).
package struct DeviceLogin: Hashable, Sendable {
    /// Decision of the person who has the user code.
    package enum Decision: Hashable, Sendable {
        case pending
        case denied
        /// The device acts for this client.
        case approved(ClientID)
    }

    package let redirect: String?
    package let decision: Decision
    /// End of the login's lifetime, by the machine's clock.
    package let expiresAt: Date
    /// Lead of the world's clock over the machine's clock when the login began, in seconds.
    package let clockOffset: TimeInterval
    /// Time of the device's last poll, by the machine's clock; nil before the first poll.
    package let askedAt: Date?
}

extension AccountStore {
    /// Begins a device login, and removes expired logins.
    ///
    /// An address at its limit loses its oldest login. At the limit of all logins, the address with the most logins
    /// loses its oldest one.
    /// - Parameters:
    ///   - deviceHash: SHA-256 of the device code.
    ///   - codes: user codes to choose from.
    ///   - limits: maximum number of logins, in all and of one address.
    ///   - approver: client that has approved the login from the start; nil for a pending login.
    ///   - period: lifetime of the login, by the machine's clock.
    /// - Returns: the user code; nil if all of `codes` are taken.
    package func beginDeviceLogin(
        deviceHash: [UInt8], codes: [String], redirect: String?, approvedBy approver: ClientID?, from address: String,
        limits: (all: Int, address: Int), _ period: RefreshPeriod
    ) async throws -> String? {
        try await database.write(.deviceLogins) { db in
            try db.run("DELETE FROM device_logins WHERE expires_at <= ?", [period.now.milliseconds])
            let taken = try db.rows(
                "SELECT user_code FROM device_logins WHERE user_code \(db.isAmong(1))", [try StoredJSON.text(codes)]
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

    /// Approves or denies a device login that was not denied before.
    /// - Parameters:
    ///   - client: client that the device acts for; nil denies the login.
    ///   - isOver: whether a login's lifetime has ended.
    /// - Returns: the login before the decision; nil if no login has the code, or it was denied or has ended.
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

    /// Stores the time of a device's poll of a pending login, or removes a decided login.
    /// - Parameter judge: throws the error that refuses the poll. Nothing is stored then.
    /// - Returns: the login before the poll; nil if no login has the device code.
    /// - Throws: errors of `judge`.
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
            redirect: row["redirect"], decision: decision, expiresAt: Date(milliseconds: row["expires_at"]),
            clockOffset: Double(row["clock_offset"] as Int64) / 1000,
            askedAt: (row["asked_at"] as Int64?).map(Date.init(milliseconds:)))
    }
}
