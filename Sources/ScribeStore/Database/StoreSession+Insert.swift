import Basics

/// The columns of one row with their values, in order.
struct ColumnValues: ExpressibleByDictionaryLiteral {
    fileprivate let columns: [(String, (any SQLConvertible)?)]

    init(dictionaryLiteral columns: (String, (any SQLConvertible)?)...) { self.columns = columns }

    /// Appends the values. A loop over the array itself would copy each pair first.
    fileprivate func append(to values: inout [SQLValue]) {
        columns.withUnsafeBufferPointer { columns in
            for place in columns.indices { values.append(columns[place].1?.sqlValue ?? .null) }
        }
    }
}

/// Action of an insertion when the table already has a row with the same key.
enum KeyConflict {
    /// Keeps the existing row and inserts nothing.
    case keep(key: [String])
    /// Overwrites the existing row: every inserted column that is not part of the key.
    case update(key: [String])

    fileprivate func clause(_ columns: [String]) -> String {
        switch self {
        case .keep(let key): return "ON CONFLICT (\(key.joined(separator: ", "))) DO NOTHING"
        case .update(let key):
            let assignments = columns.filter { !key.contains($0) }.map { "\"\($0)\" = excluded.\"\($0)\"" }
            return "ON CONFLICT (\(key.joined(separator: ", "))) DO UPDATE SET \(assignments.joined(separator: ", "))"
        }
    }
}

extension StoreSession {
    /// Inserts one row: `try db.insert(into: "photos").values(["photo_id": photo.id, "base64": photo.base64])`.
    /// - Parameter conflict: nil throws when a row has the same key.
    func insert(
        into table: String, onConflict conflict: KeyConflict? = nil, file: StaticString = #fileID, line: UInt = #line
    ) -> Insertion {
        let place = Insertion.Place(file: UInt(bitPattern: file.utf8Start), line: line, table: table)
        return Insertion(db: self, place: place, conflict: conflict)
    }
}

/// An INSERT statement without its values.
struct Insertion {
    /// Place of an insertion in the code. Its first run builds the SQL text and later runs look the text up: building
    /// takes longer than binding the values. One place must always insert the same columns into a table.
    fileprivate struct Place: Hashable {
        /// Address of the file's name.
        let file: UInt
        let line: UInt
        let table: String
        /// Number of rows in the statement.
        var rows = 1
    }

    /// Most rows of one statement, so that few texts of each insertion are kept.
    private static let mostRows = 16

    private static let texts = LockedValue<[Place: String]>([:])

    fileprivate let db: any StoreSession
    fileprivate var place: Place
    fileprivate let conflict: KeyConflict?

    /// Runs the statement. Values are bound; the SQL text holds none of them.
    func values(_ row: ColumnValues) throws { try values([row]) }

    /// Runs the statement for rows with the same columns, up to ``mostRows`` at once.
    func rows(_ rows: [ColumnValues]) throws {
        for start in stride(from: 0, to: rows.count, by: Self.mostRows) {
            try values(rows[start..<min(start + Self.mostRows, rows.count)])
        }
    }

    private func values(_ rows: ArraySlice<ColumnValues>) throws {
        guard let first = rows.first else { return }
        var place = place
        place.rows = rows.count
        let text = Self.texts.withLock { [place] texts in
            if let known = texts[place] { return known }
            let text = sql(first, count: rows.count)
            texts[place] = text
            return text
        }
        assert(
            text == sql(first, count: rows.count), "the insertion into \(place.table) names other columns than before")
        var values: [SQLValue] = []
        values.reserveCapacity(rows.count * first.columns.count)
        for row in rows { row.append(to: &values) }
        try db.run(text, SQLArguments(values))
    }

    private func sql(_ row: ColumnValues, count: Int) -> String {
        let columns = row.columns.map(\.0)
        let places = "(\(repeatElement("?", count: columns.count).joined(separator: ", ")))"
        let rows = repeatElement(places, count: count).joined(separator: ", ")
        return "INSERT INTO \(place.table) (\(columns.map { "\"\($0)\"" }.joined(separator: ", "))) VALUES \(rows) "
            + (conflict?.clause(columns) ?? "")
    }
}
