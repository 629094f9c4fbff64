import GRDB

extension SQLiteSchema {
    /// One row of `sqlite_schema`: type, name, table and SQL of a table, an index or a trigger. A foreign file may have
    /// values of any type there.
    typealias Part = [DatabaseValue]

    /// Parts of a database's schema.
    static func parts(in db: Database) throws -> Set<Part> {
        let rows = try Row.fetchAll(db, sql: "SELECT type, name, tbl_name, sql FROM sqlite_schema")
        return Set(rows.map { Array($0.databaseValues) })
    }

    /// Parts of the schema that this program makes in an empty file.
    /// - Parameter version: a version of the schema, at least 1.
    static func parts(ofVersion version: Int) throws -> Set<Part> {
        let queue = try DatabaseQueue()
        return try queue.write { db in
            for sql in version1 + migrations.prefix(version - 1) { try db.execute(sql: sql) }
            return try parts(in: db)
        }
    }
}
