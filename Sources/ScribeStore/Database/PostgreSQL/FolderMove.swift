package import NIOPosix
package import ObjectStorage

/// Moves the data of a folder to PostgreSQL and S3: objects first, then all rows in one SQL transaction.
///
/// A move that is interrupted leaves the folder as it was and no rows. It can be done again.
package struct FolderMove: Sendable {
    /// Counts of moved files.
    package struct Summary: Hashable, Sendable {
        package let objects: Int
        package let rows: Int
    }

    /// Tables in an order in which each comes after those that it refers to, with the rows that are read at once.
    /// Leases end with the server, and triggers count the storage.
    private static let tables = [
        ("clients", 2000), ("client_keys", 2000), ("refresh_tokens", 2000), ("providers", 2000), ("preferences", 200),
        ("transactions", 500), ("ambient_segments", 2000), ("chunk_transcripts", 200), ("objects", 2000),
        ("multipart_uploads", 2000), ("multipart_parts", 2000), ("documents", 50), ("templates", 500),
        ("template_sections", 500), ("feedback", 500), ("jobs", 2000), ("conversations", 500), ("segments", 2000),
        ("photos", 10), ("memories", 500), ("webhooks", 500), ("deliveries", 200), ("device_logins", 500),
        ("generations", 100),
    ]

    private let uploads: ObjectFiles
    private let source: SQLiteDatabase
    private let target: PostgreSQLDatabase
    private let store: Store
    private let objects: S3Objects

    /// Opens both ends. Blocking.
    /// - Parameters:
    ///   - database: path of the folder's database.
    ///   - uploads: the folder's uploads.
    /// - Throws: ``Store/Problem``, also for a schema that holds data.
    package init(
        from database: String, _ uploads: ObjectFiles, to address: PostgreSQLAddress, _ objects: S3Objects
    ) throws {
        self.uploads = uploads
        self.objects = objects
        let old = try Store(at: .file(database, .full))
        source = try old.requireSQLite()
        store = try Store(at: .postgreSQL(address))
        guard let target = store.database as? PostgreSQLDatabase else { preconditionFailure("no PostgreSQL") }
        self.target = target
    }

    /// Moves everything. The folder itself stays.
    /// - Parameter secrets: contents of the folder's key files, by name.
    /// - Throws: ``Store/Problem``, ``ScribeError/storageUnavailable(cause:)``.
    package func run(secrets: [String: [UInt8]], on threads: NIOThreadPool) async throws -> Summary {
        try await objects.check()
        try await requireEmpty()
        let files = try await source.read { db in
            try db.rows("SELECT file, size FROM objects UNION ALL SELECT file, size FROM multipart_parts")
                .map { (name: $0["file"] as String, size: $0["size"] as Int) }
        }
        let keys = DatabaseSecrets(store)
        try await objects.claim(by: keys)
        try await objects.send(files, of: uploads, on: threads)
        for (name, bytes) in secrets { _ = try await keys.secret(named: name) { bytes } }
        let rows = try await target.write(in: [.none]) { [source] db, _ in
            try source.readBlocking { old in try Self.copy(from: old, to: db) }
        }
        return Summary(objects: files.count, rows: rows)
    }

    private func requireEmpty() async throws {
        let row = try await target.read {
            try $0.row("SELECT (SELECT count(*) FROM transactions) + (SELECT count(*) FROM clients) AS rows")
        }
        guard row?["rows"] as Int? == 0 else {
            throw Store.Problem.noPostgreSQL(reason: "its schema \(target.address.schema) holds data already")
        }
    }

    /// Copies all tables.
    /// - Returns: the number of rows.
    private static func copy(from old: any StoreSession, to db: any StoreSession) throws -> Int {
        var total = 0
        for (table, atOnce) in tables {
            var count = 0
            while true {
                let rows = try old.rows("SELECT * FROM \(table) LIMIT ? OFFSET ?", [atOnce, count])
                for row in rows { try insert(row, into: table, db) }
                count += rows.count
                if rows.count < atOnce { break }
            }
            let found = try db.row("SELECT count(*) AS count FROM \(table)")?["count"] as Int?
            guard found == count else {
                throw Store.Problem.noPostgreSQL(reason: "\(table) has \(found ?? 0) rows in place of \(count)")
            }
            total += count
        }
        let state = try old.row("SELECT number FROM state")
        if let number = state?["number"] as Int? { try db.run("UPDATE state SET number = ?", [number]) }
        try continueIdentities(after: old, in: db)
        return total
    }

    private static func insert(_ row: StoredRow, into table: String, _ db: any StoreSession) throws {
        let columns = row.columns.map { "\"\($0)\"" }.joined(separator: ", ")
        let places = repeatElement("?", count: row.columns.count).joined(separator: ", ")
        try db.run("INSERT INTO \(table) (\(columns)) VALUES (\(places))", SQLArguments(row.values))
    }

    /// Makes new ids begin after those of the folder, also after ids of deleted rows that must not come again.
    private static func continueIdentities(after old: any StoreSession, in db: any StoreSession) throws {
        let given = try old.rows("SELECT name, seq FROM sqlite_sequence")
        let last = Dictionary(given.map { ($0["name"] as String, $0["seq"] as Int) }, uniquingKeysWith: max)
        let tables = try db.rows(
            """
            SELECT table_name FROM information_schema.columns
            WHERE table_schema = current_schema() AND column_name = 'id' AND is_identity = 'YES'
            """
        ).map { $0["table_name"] as String }
        for table in tables {
            try db.run(
                """
                SELECT setval(pg_get_serial_sequence('\(table)', 'id'), greatest(CAST(? AS BIGINT), coalesce(max(id), 0)) + 1, false)
                FROM \(table)
                """, [last[table] ?? 0])
        }
    }
}
