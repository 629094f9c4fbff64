import GRDB

/// Rows that a snapshot holds, and their copying between databases of the same schema.
enum SnapshotTables {
    /// Tables whose rows a snapshot holds, each after the tables that it refers to. Triggers count ``storage`` anew.
    static let held = [
        "providers", "preferences", "transactions", "ambient_segments", "chunk_transcripts", "objects",
        "multipart_uploads", "multipart_parts", "documents", "templates", "template_sections", "feedback", "jobs",
        "conversations", "segments", "photos", "memories",
    ]

    /// Tables that a snapshot leaves out: clients, secrets and tokens, and the work of one process. Registrations of
    /// webhooks have signing keys, and their deliveries have messages with signatures.
    static let left = [
        "clients", "refresh_tokens", "client_keys", "device_logins", "webhooks", "deliveries", "storage", "leases",
        "generations", "state",
    ]

    /// Columns of a ``Principal``.
    private static let ofPrincipal = ["business_id", "user_id", "doctor_id", "client_id"]

    /// Copies the rows of a snapshot from one attached database to another, within a SQL transaction.
    /// - Parameters:
    ///   - owners: principals in the source and in the target that stand for each other.
    ///   - target: the schema name of a database that has the tables and no rows.
    static func copy(
        in db: Database, from source: String, to target: String,
        owners: [(old: SnapshotOwner, new: SnapshotOwner)] = []
    ) throws {
        try db.execute(sql: "PRAGMA defer_foreign_keys = ON")
        for table in held {
            let columns = try String.fetchAll(
                db, sql: "SELECT name FROM pragma_table_info(?, ?)", arguments: [table, target])
            var arguments = StatementArguments()
            let values = columns.map { column in
                if table == "jobs" {
                    // Another process claimed the job.
                    if column == "state" { return "'pending'" }
                    if column == "owner" { return "NULL" }
                }
                guard let part = ofPrincipal.firstIndex(of: column), !owners.isEmpty else { return quoted(column) }
                let cases = owners.map { pair in
                    arguments += [pair.old.parts[part], pair.new.parts[part]]
                    return "WHEN ? THEN ?"
                }
                return "CASE \(quoted(column)) \(cases.joined(separator: " ")) ELSE \(quoted(column)) END"
            }
            try db.execute(
                sql: """
                    INSERT INTO \(target).\(table) (\(columns.map(quoted).joined(separator: ", ")))
                    SELECT \(values.joined(separator: ", ")) FROM \(source).\(table)
                    """,
                arguments: arguments)
        }
    }

    private static func quoted(_ column: String) -> String { "\"\(column)\"" }

    /// Names, sizes and digests of all files that rows refer to.
    static func files(in db: Database, of schema: String = "main") throws -> [SnapshotFile] {
        try Row.fetchAll(
            db,
            sql: """
                SELECT file, size, etag FROM \(schema).objects
                UNION ALL SELECT file, size, md5 FROM \(schema).multipart_parts ORDER BY file
                """
        ).map { SnapshotFile(name: $0["file"], size: $0["size"], eTag: $0["etag"]) }
    }
}

/// File of a snapshot: an upload, or a part of one.
package struct SnapshotFile: Hashable, Sendable {
    package let name: String
    /// In bytes.
    package let size: Int
    /// MD5 of the bytes in hexadecimal; for an upload in parts, a digest of the parts' digests.
    package let eTag: String

    /// MD5 of the bytes; nil for an upload in parts.
    package var digest: String? { eTag.utf8.count == 32 ? eTag.lowercased() : nil }
}
