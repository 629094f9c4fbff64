import Basics

/// Statement in PostgreSQL's spelling: `$1` in place of `?` and `?1`.
struct PostgreSQLStatement: Hashable, Sendable {
    private static let translated = LockedValue<[String: PostgreSQLStatement]>([:])

    let sql: String
    /// Number of its parameters.
    let parameterCount: Int

    /// Translates a statement of the store. Each one is translated once.
    static func of(_ sql: String) -> Self {
        translated.withLock { translated in
            if let known = translated[sql] { return known }
            let statement = PostgreSQLStatement(sql)
            translated[sql] = statement
            return statement
        }
    }

    private init(_ text: String) {
        var (sql, count, quote) = ("", 0, Character?.none)
        var rest = text[...]
        while let character = rest.popFirst() {
            if let open = quote {
                if character == open { quote = nil }
                sql.append(character)
            } else if character == "?" {
                let digits = rest.prefix { $0.isASCII && $0.isNumber }
                rest = rest.dropFirst(digits.count)
                let number = Int(digits) ?? count + 1
                count = max(count, number)
                sql += "$\(number)"
            } else {
                if character == "'" || character == "\"" { quote = character }
                sql.append(character)
            }
        }
        self.sql = sql
        parameterCount = count
    }
}
