import GRDB

@testable import ScribeStore

extension Store {
    /// SQLite below the seam, for tests of SQLite alone.
    var sqlite: SQLiteDatabase {
        guard let sqlite = database as? SQLiteDatabase else { preconditionFailure("the store is not on SQLite") }
        return sqlite
    }

    /// Connections of SQLite, for tests that look at the file itself.
    var pool: any DatabaseWriter { sqlite.pool }
}
