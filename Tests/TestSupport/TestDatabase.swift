import Foundation
package import ScribeStore

/// Database of the tests: a file of SQLite, or with `SCRIBE_TEST_DATABASE` the PostgreSQL server of that URL.
package enum TestDatabase {
    package static let isPostgreSQL = ProcessInfo.processInfo.environment["SCRIBE_TEST_DATABASE"] != nil

    /// Place of a new store.
    /// - Parameter path: the file of SQLite.
    package static func place(_ path: String) -> Store.Place {
        guard let url = ProcessInfo.processInfo.environment["SCRIBE_TEST_DATABASE"] else { return .file(path, .normal) }
        let schema = "t_\(UUID().uuidString.lowercased().replacing("-", with: "_"))"
        guard let address = PostgreSQLAddress("\(url)?schema=\(schema)") else {
            preconditionFailure("SCRIBE_TEST_DATABASE is no URL")
        }
        return .postgreSQL(address)
    }
}
