import Foundation
package import ObjectStorage
package import ScribeStore

/// Database of the tests: a file of SQLite, or with `SCRIBE_TEST_DATABASE` the PostgreSQL server of that URL.
package enum TestDatabase {
    package static let isPostgreSQL = ProcessInfo.processInfo.environment["SCRIBE_TEST_DATABASE"] != nil

    /// Place of a new store.
    /// - Parameter path: the file of SQLite. Each path has a schema of its own.
    package static func place(_ path: String, _ durability: Durability = .normal) -> Store.Place {
        guard let url = ProcessInfo.processInfo.environment["SCRIBE_TEST_DATABASE"] else {
            return .file(path, durability)
        }
        let number = path.utf8.reduce(0xcbf2_9ce4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01b3 }
        let schema = "t_\(String(number, radix: 16))"
        guard let address = PostgreSQLAddress("\(url)?schema=\(schema)") else {
            preconditionFailure("SCRIBE_TEST_DATABASE is no URL")
        }
        return .postgreSQL(address)
    }
}
