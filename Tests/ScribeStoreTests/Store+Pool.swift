import GRDB

@testable import ScribeStore

extension Store {
    /// SQLite below the seam, for tests of SQLite alone.
    var sqlite: SQLiteDatabase { database as! SQLiteDatabase }

    /// Connections of SQLite, for tests that look at the file itself.
    var pool: any DatabaseWriter { sqlite.pool }
}
