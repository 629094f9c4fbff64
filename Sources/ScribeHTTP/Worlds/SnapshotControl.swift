package import Foundation
package import NIOCore
package import ScribeDomain
package import ScribeStore

/// Snapshots of one namespace, for the operator API.
package protocol SnapshotControl: Sendable {
    /// Most snapshots of a namespace.
    var limit: Int { get }

    /// All snapshots by name.
    func list() async throws -> [SnapshotRecord]

    /// One snapshot.
    /// - Throws: ``SnapshotProblem/unknown``.
    func record(of name: SnapshotName) async throws -> SnapshotRecord

    /// Saves the namespace, in place of an earlier snapshot of that name.
    /// - Throws: ``SnapshotProblem``, the error of SQLite or of the file system.
    func save(as name: SnapshotName) async throws -> SnapshotRecord

    /// - Throws: ``SnapshotProblem``.
    func delete(_ name: SnapshotName) async throws

    /// The snapshot as one file, which stays readable until it is written.
    /// - Throws: ``SnapshotProblem``.
    func archive(of name: SnapshotName) async throws -> SnapshotArchive

    /// Reads the file of a snapshot, in place of an earlier snapshot of that name. A refused file changes nothing.
    /// - Throws: ``SnapshotProblem``, ``ScribeError/storageUnavailable(cause:)``.
    func read<Body: AsyncSequence & Sendable>(_ name: SnapshotName, from body: Body) async throws -> SnapshotRecord
    where Body.Element == ByteBuffer

    /// Gives the namespace a new state with the rows and audio of a snapshot.
    /// - Returns: The number of the new state.
    /// - Throws: ``SnapshotProblem``, ``NamespaceProblem``, the error of SQLite or of the file system.
    func restore(_ name: SnapshotName) async throws -> Int
}

/// A snapshot, as operators see it.
package struct SnapshotRecord: Hashable, Sendable {
    package let name: SnapshotName
    package let createdAt: Date
    /// Number of uploads, and of parts of uploads in progress.
    package let objects: Int
    /// Bytes of rows and audio.
    package let size: Int

    package init(name: SnapshotName, createdAt: Date, objects: Int, size: Int) {
        self.name = name
        self.createdAt = createdAt
        self.objects = objects
        self.size = size
    }
}
