import GRDB

extension Database {
    /// Columns, keys, constraints and texts of each table, index and trigger, by its type and name. White space,
    /// comments and quotes are left out: two files with the same parts have the same schema.
    func schemaParts() throws -> [String: [String]] {
        var parts: [String: [String]] = [:]
        let objects = try Row.fetchAll(
            self,
            sql: """
                SELECT type, name, tbl_name, coalesce(sql, '') AS sql FROM sqlite_master
                WHERE tbl_name <> 'grdb_migrations' AND name <> 'sqlite_sequence'
                """)
        for object in objects {
            let (type, name, table) = (object["type"] as String, object["name"] as String, object["tbl_name"] as String)
            let text = Self.normalised(object["sql"])
            if type == "table" {
                let pragmas = ["pragma_table_xinfo", "pragma_foreign_key_list", "pragma_index_list"]
                parts["\(type) \(name)"] = try Self.items(ofTable: text) + rows(of: pragmas, name)
            } else {
                parts["\(type) \(name)"] = try [table, text] + rows(of: ["pragma_index_xinfo"], name)
            }
        }
        return parts
    }

    private func rows(of pragmas: [String], _ name: String) throws -> [String] {
        try pragmas.flatMap { try Row.fetchAll(self, sql: "SELECT * FROM \($0)(?)", arguments: [name]) }
            .map(\.description)
    }

    private static func normalised(_ sql: String) -> String {
        sql.replacing(/--[^\n]*/, with: "").replacing("\"", with: "").replacing(/\s+/, with: " ")
            .replacing(/\s?([(),])\s?/) { String($0.output.1) }
    }

    /// The columns and constraints of a table, sorted: their order in the text depends on which were added later. The
    /// order of the columns is in `table_xinfo`.
    private static func items(ofTable sql: String) -> [String] {
        guard let first = sql.firstIndex(of: "("), let last = sql.lastIndex(of: ")") else { return [sql] }
        var items = [""]
        var depth = 0
        var isQuoted = false
        for character in sql[sql.index(after: first)..<last] {
            if character == "'" { isQuoted.toggle() }
            if !isQuoted { depth += character == "(" ? 1 : character == ")" ? -1 : 0 }
            if character == ",", depth == 0, !isQuoted {
                items.append("")
            } else {
                items[items.count - 1].append(character)
            }
        }
        return [String(sql[..<first]), String(sql[last...])] + items.sorted()
    }
}
