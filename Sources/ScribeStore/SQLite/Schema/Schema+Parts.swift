import GRDB

/// One row of `sqlite_schema`: a table, an index or a trigger, with its SQL.
struct SchemaPart: Hashable {
    let type: String
    let name: String
    let table: String
    let sql: String?
}

extension Schema {
    /// Parts of a database's schema.
    static func parts(in db: Database) throws -> Set<SchemaPart> {
        let rows = try Row.fetchAll(db, sql: "SELECT type, name, tbl_name, sql FROM sqlite_schema")
        let parts = rows.map { SchemaPart(type: $0["type"], name: $0["name"], table: $0["tbl_name"], sql: $0["sql"]) }
        return Set(parts)
    }

    /// Parts of the schema that this program makes in an empty file.
    /// - Parameter version: a version of the schema, at least 1.
    static func parts(ofVersion version: Int) throws -> Set<SchemaPart> {
        let queue = try DatabaseQueue()
        return try queue.write { db in
            for sql in version1 + migrations.prefix(version - 1) { try db.execute(sql: sql) }
            return try parts(in: db)
        }
    }
}
