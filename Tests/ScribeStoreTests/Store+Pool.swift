import GRDB

@testable import ScribeStore

extension Store {
    /// The connections below the seam, for tests that look at the file itself.
    var pool: any DatabaseWriter { database.pool }
}
