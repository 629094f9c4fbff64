/// A folder with a database and the uploads that belong to it.
struct StateFolder: Hashable, Sendable {
    let path: String

    package var database: String { "\(path)/scribe.sqlite" }
    var objects: String { "\(path)/objects" }
    /// Path of a file that keeps the state although it may not be the valid one.
    var keepMark: String { "\(path)/keep" }
}
