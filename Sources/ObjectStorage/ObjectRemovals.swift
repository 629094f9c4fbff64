package import Foundation

/// Names of objects whose bytes are to be deleted, kept with the rows that refer to objects.
package protocol ObjectRemovals: Sendable {
    /// Records names to which no row refers any more.
    func addRemovals(of names: [String], at now: Date) async throws

    /// Names that were recorded before a time, at most 100.
    func removals(before time: Date) async throws -> [String]

    /// Selects the names to which neither an object nor a part of an upload refers.
    func unusedFiles(among files: [String]) async throws -> [String]

    /// Removes the records of deleted objects.
    func forgetRemovals(of names: [String]) async throws
}
