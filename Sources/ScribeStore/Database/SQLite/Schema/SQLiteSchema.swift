import GRDB

/// ``Schema`` in SQLite, with triggers that count, and the migrations that follow version 1.
///
/// `PRAGMA user_version` is the version, and `PRAGMA application_id` marks the file as ours.
enum SQLiteSchema {
    /// Value of `PRAGMA application_id`: "SCRB".
    static let applicationID = 0x5343_5242

    static let version1 = Schema.tables + [triggers]

    /// Migrations to version 2 and later, in order. A released version never changes.
    static let migrations: [String] = []

    static var latestVersion: Int { 1 + migrations.count }

    /// Statements that make the schema in a new file.
    static var script: String {
        """
        PRAGMA secure_delete = ON; PRAGMA auto_vacuum = INCREMENTAL;
        BEGIN;
        \((version1 + migrations).joined(separator: "\n"))
        PRAGMA application_id = \(applicationID); PRAGMA user_version = \(latestVersion);
        COMMIT;
        """
    }

    /// Program that made a database file.
    enum Origin {
        /// A file without tables, as a killed start leaves it.
        case nothing
        case ours
        /// A later version of this program.
        case newer
        case foreign
    }

    /// Configures the writing connection before its first write.
    static func prepareWriting(_ db: Database) throws {
        // Deleted health data are overwritten, whatever the build options of SQLite.
        try db.execute(sql: "PRAGMA secure_delete = ON")
        // The switch to WAL writes the first page, and the pragma has no effect after it. Later starts skip the pragma,
        // because it waits for other writers.
        if try Int.fetchOne(db, sql: "PRAGMA page_count") == 0 {
            try db.execute(sql: "PRAGMA auto_vacuum = INCREMENTAL")
        }
    }

    /// Creates the schema in an empty file, or migrates an older one. Blocking.
    ///
    /// Each step is one SQL transaction, so that a kill leaves a file that opens.
    /// - Parameter migrations: those of a test, in place of ``migrations``.
    /// - Throws: ``Store/Problem/newerSchema(path:)``, ``Store/Problem/foreign(path:)``, or SQLite's error.
    static func prepare(_ writer: any DatabaseWriter, migrations: [String] = SQLiteSchema.migrations) throws {
        let latest = 1 + migrations.count
        switch try writer.read({ try origin(of: $0, latest: latest) }) {
        case .newer: throw Store.Problem.newerSchema(path: writer.path)
        case .foreign: throw Store.Problem.foreign(path: writer.path)
        case .ours: break
        case .nothing:
            try change(writer, to: latest) { db in
                for sql in version1 + migrations { try db.execute(sql: sql) }
                try db.execute(sql: "PRAGMA application_id = \(applicationID)")
            }
        }
        let version = try writer.read { try userVersion(of: $0) }
        for (number, sql) in zip(2..., migrations) where number > version {
            try change(writer, to: number) { try $0.execute(sql: sql) }
        }
    }

    /// Whether a later version of this program has written the file.
    static func isNewer(_ db: Database) throws -> Bool { try origin(of: db) == .newer }

    /// Reads which program made a file.
    static func origin(of db: Database, latest: Int = latestVersion) throws -> Origin {
        let id = try Int.fetchOne(db, sql: "PRAGMA application_id") ?? 0
        let version = try userVersion(of: db)
        if id == applicationID { return version > latest ? .newer : .ours }
        let isUsed = try Bool.fetchOne(db, sql: "SELECT EXISTS (SELECT 1 FROM sqlite_schema)") ?? false
        return id == 0 && version == 0 && !isUsed ? .nothing : .foreign
    }

    private static func userVersion(of db: Database) throws -> Int {
        try Int.fetchOne(db, sql: "PRAGMA user_version") ?? 0
    }

    /// Migrates to one version in one SQL transaction.
    private static func change(
        _ writer: any DatabaseWriter, to version: Int, _ body: (Database) throws -> Void
    ) throws {
        try writer.barrierWriteWithoutTransaction { db in
            // Off, because a migration drops and recreates tables that other rows refer to. The pragma has no effect
            // within a transaction.
            try db.execute(sql: "PRAGMA foreign_keys = OFF")
            let outcome = Result {
                try db.inTransaction(.immediate) {
                    try body(db)
                    try db.execute(sql: "PRAGMA user_version = \(version)")
                    try db.checkForeignKeys()
                    return .commit
                }
            }
            try db.execute(sql: "PRAGMA foreign_keys = ON")
            try outcome.get()
        }
    }
}
