import Basics

/// Database file with the schema and without rows, to copy for a new state. Making the schema each time would take
/// several times as long.
package struct DatabaseTemplate: Sendable {
    private let path: String

    /// Makes the file at `path`, in WAL mode. Blocking.
    /// - Throws: ``Store/Problem``, or SQLite's error.
    package init(path: String) throws {
        self.path = path
        try SQLiteDatabase.makeSchema(in: path)
    }

    /// Copies the file. Blocking.
    /// - Throws: `FileSystem.Failure`.
    package func copy(to target: String) throws { try FileSystem.copy(path, as: target) }
}
