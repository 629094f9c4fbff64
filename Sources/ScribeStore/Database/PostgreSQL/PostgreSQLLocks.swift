import ScribeDomain

/// Locks of a write: one advisory lock for each of its scopes, held until the end of the SQL transaction.
///
/// At READ COMMITTED, what a write reads after its locks is all that was committed before them. The locks of all
/// schemas of a database are one space: another schema's locks only make a write wait.
enum PostgreSQLLocks {
    /// Takes the locks, in one order for all writes. The statement goes with the first read of the write, which runs
    /// after it. The connection notes the number of the SQL transaction, for `pg_xact_status`.
    static func take(_ scopes: [WriteScope], in db: PostgreSQLSession) throws {
        // A lane is a part of all deliveries: lanes share that lock, and a write of all deliveries has it alone.
        let isOfLane = scopes.contains { if case .lane = $0 { true } else { false } }
        if isOfLane { try db.run("SELECT pg_advisory_xact_lock_shared(\(key(of: "?")))", [allDeliveries]) }
        let names = scopes.compactMap(name)
        let found = scopes.compactMap(transactions)
        let number = "SELECT CAST(pg_current_xact_id() AS TEXT) AS number"
        guard !found.isEmpty || names.count > 1 else {
            let lock = names.isEmpty ? "" : ", pg_advisory_xact_lock(\(key(of: "?")))"
            return try db.note(number + lock, SQLArguments(names.map(SQLValue.text)))
        }
        let texts = ["SELECT value AS name FROM \(db.list(1)) AS names"] + found.map(\.sql)
        let all = texts.joined(separator: " UNION ALL ")
        try db.note(
            """
            \(number), (
                SELECT count(pg_advisory_xact_lock(key)) FROM (
                    SELECT DISTINCT \(key(of: "name")) AS key FROM (\(all)) AS names
                    ORDER BY key
                ) AS keys
            ) AS locks
            """, SQLArguments([.text(try StoredJSON.text(names))] + found.flatMap(\.values)))
    }

    private static let allDeliveries = "deliveries"

    /// SQL for the number of a name's lock.
    private static func key(of name: String) -> String { "hashtextextended(\(name), 0)" }

    /// SQL for the names of the transactions in a folder, or of a document's transaction; nil for other scopes. Its
    /// parameters begin with the second.
    private static func transactions(of scope: WriteScope) -> (sql: String, values: [SQLValue])? {
        let name = "SELECT 'transaction ' || business_id || ' ' || txn_id AS name FROM transactions"
        switch scope {
        case .folder(let business, let bucket, let key):
            return (
                "\(name) WHERE business_id = ?2 AND bucket = ?3 AND folder = ?4",
                [.text(business.rawValue), .text(bucket), .text(AudioLocation.split(key: key).folder)]
            )
        case .document(let id):
            return (
                "\(name) JOIN documents ON transactions.id = transaction_id WHERE document_id = ?2",
                [.text(id.rawValue)]
            )
        default: return nil
        }
    }

    /// Name of a scope's lock; nil if it has none of its own.
    private static func name(of scope: WriteScope) -> String? {
        switch scope {
        case .transaction(let key): "transaction \(key.business) \(key.id)"
        case .folder(let business, let bucket, let key): "object \(business) \(bucket)/\(key)"
        case .conversation(let id): "conversation \(id)"
        case .user(let business, let user): "user \(business) \(user)"
        case .client(let client): "client \(client)"
        case .lane(let lane): "lane \(lane)"
        case .deliveries: allDeliveries
        case .business(let business): "business \(business)"
        case .partner(let partner): "partner \(partner)"
        case .clients: "clients"
        case .deviceLogins: "device logins"
        case .document, .none: nil
        }
    }
}
