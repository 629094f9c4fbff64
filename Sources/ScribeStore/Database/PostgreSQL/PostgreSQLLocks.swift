import Basics
import ScribeDomain

/// Locks of a write: one advisory lock for each of its scopes, held until the end of the SQL transaction.
///
/// At READ COMMITTED, what a write reads after its locks is all that was committed before them. The locks of all
/// schemas of a database are one space: another schema's locks only make a write wait.
enum PostgreSQLLocks {
    /// Takes the locks, in one order for all writes. The statement goes with the first read of the write, which runs
    /// after it. The connection notes the number of the SQL transaction, for `pg_xact_status`.
    static func take(_ scopes: [WriteScope], in db: PostgreSQLSession) throws {
        let keys = Set(try scopes.flatMap { try names(of: $0, in: db) }).map(key).sorted()
        let list = "[" + keys.map(String.init).joined(separator: ",") + "]"
        // A lane is a part of all deliveries: lanes share that lock, and a write of all deliveries has it alone.
        let isOfLane = scopes.contains { if case .lane = $0 { true } else { false } }
        if isOfLane { try db.run("SELECT pg_advisory_xact_lock_shared(?)", [key(allDeliveries)]) }
        try db.note(
            """
            SELECT CAST(pg_current_xact_id() AS TEXT) AS number, (
                SELECT count(pg_advisory_xact_lock(CAST(value AS BIGINT)))
                FROM (SELECT value FROM json_array_elements_text(CAST(? AS json)) AS list(value)) AS keys
            ) AS locks
            """, [list])
    }

    private static let allDeliveries = "deliveries"

    private static func names(of scope: WriteScope, in db: any StoreSession) throws -> [String] {
        switch scope {
        case .transaction(let key): return [name(of: key)]
        case .folder(let business, let bucket, let key):
            // The folders that the key lies in.
            var folders = [""]
            var end = key.startIndex
            while let slash = key[end...].firstIndex(of: "/") {
                folders.append(String(key[..<slash]))
                end = key.index(after: slash)
            }
            let rows = try db.rows(
                "SELECT txn_id FROM transactions WHERE business_id = ? AND bucket = ? AND folder IN \(db.list(3))",
                [business.rawValue, bucket, try StoredJSON.text(folders)])
            return rows.map { name(of: Transaction.Key(business: business, id: TransactionID($0["txn_id"]))) }
                + ["object \(business) \(bucket)/\(key)"]
        case .document(let id):
            let row = try db.row(
                """
                SELECT business_id, txn_id FROM transactions JOIN documents ON transactions.id = transaction_id
                WHERE document_id = ?
                """, [id.rawValue])
            return row.map {
                [name(of: Transaction.Key(business: BusinessID($0["business_id"]), id: TransactionID($0["txn_id"])))]
            } ?? []
        case .conversation(let id): return ["conversation \(id)"]
        case .user(let business, let user): return ["user \(business) \(user)"]
        case .client(let client): return ["client \(client)"]
        case .lane(let lane): return ["lane \(lane)"]
        case .deliveries: return [allDeliveries]
        case .business(let business): return ["business \(business)"]
        case .partner(let partner): return ["partner \(partner)"]
        case .clients: return ["clients"]
        case .deviceLogins: return ["device logins"]
        case .none: return []
        }
    }

    private static func name(of key: Transaction.Key) -> String { "transaction \(key.business) \(key.id)" }

    /// Number of a lock.
    private static func key(_ name: String) -> Int64 { Int64(bitPattern: FNV.hash(of: name.utf8)) }
}
