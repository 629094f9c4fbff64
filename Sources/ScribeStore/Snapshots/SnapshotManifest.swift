import Basics
package import Foundation
package import ScribeDomain

/// First file of a snapshot: format, time, counts, and the version of the server that wrote it.
package struct SnapshotManifest: Codable, Hashable, Sendable {
    /// Value of ``format`` in every snapshot.
    private static let ownFormat = "scribe-emulator snapshot"
    /// Version of the layout of a snapshot's files.
    private static let ownVersion = 1
    /// Maximum size of a manifest, in bytes.
    package static let limit = 16 << 20
    /// Most files of a snapshot: each is made, read and linked at an import.
    static let maxFiles = 50_000

    private let format: String
    private let version: Int
    /// Version of the database's schema.
    package let schema: Int
    /// Milliseconds since 1970.
    private let created: Int64
    /// The client of the namespace itself; nil for the default namespace.
    package let owner: SnapshotOwner?
    /// Number of the files with uploads and their parts.
    package let objects: Int
    /// Bytes of these files.
    package let bytes: Int
    /// MD5 of each upload in parts, whose row has a digest of digests.
    package let digests: [String: String]
    /// Identifiers that the namespace had made from its seed value; nil without one.
    package let identifiers: IdentifierCounts?

    package init(
        createdAt: Date, owner: SnapshotOwner?, files: [SnapshotFile], digests: [String: String],
        identifiers: IdentifierCounts
    ) {
        format = Self.ownFormat
        version = Self.ownVersion
        schema = SQLiteSchema.latestVersion
        created = createdAt.milliseconds
        self.owner = owner
        objects = files.count
        bytes = files.total(\.size)
        self.digests = digests
        self.identifiers = identifiers.isEmpty ? nil : identifiers
    }

    package var createdAt: Date { Date(milliseconds: created) }

    /// Reads a manifest.
    /// - Throws: ``SnapshotProblem/foreign`` or ``SnapshotProblem/newer``.
    init(json: Data) throws {
        struct Head: Decodable {
            let format: String
            let version: Int
            let schema: Int
        }
        guard json.count <= Self.limit, let head = try? JSONDocument(json).decode(Head.self),
            head.format == Self.ownFormat
        else { throw SnapshotProblem.foreign }
        guard head.version <= Self.ownVersion, head.schema <= SQLiteSchema.latestVersion else {
            throw SnapshotProblem.newer
        }
        guard head.version == Self.ownVersion, head.schema >= 1,
            let manifest = try? JSONDocument(json).decode(Self.self)
        else { throw SnapshotProblem.foreign }
        guard manifest.objects <= Self.maxFiles else { throw SnapshotProblem.tooManyFiles(limit: Self.maxFiles) }
        self = manifest
    }

    package func json() throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        return try encoder.encode(self)
    }
}
