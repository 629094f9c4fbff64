package import Foundation
package import ScribeDomain

/// Makes, resets and removes namespaces, for the operator API.
package protocol NamespaceControl: Sendable {
    /// Most namespaces at a time.
    var limit: Int { get }

    /// Makes a namespace with a client of its own.
    /// - Parameters:
    ///   - name: nil to have one made.
    ///   - seed: source of its identifiers; nil for the server's seed value, or random ones without it.
    /// - Throws: ``NamespaceProblem``, the error of SQLite or of the file system.
    func create(
        _ name: NamespaceName?, seed: SeedValue?
    ) async throws -> (record: NamespaceRecord, credentials: NamespaceCredentials)

    /// All namespaces by name.
    func list() -> [NamespaceRecord]

    /// One namespace; nil for an unknown one.
    func record(of name: NamespaceName) -> NamespaceRecord?

    /// Removes a namespace with its data.
    /// - Throws: ``NamespaceProblem``.
    func delete(_ name: NamespaceName) async throws

    /// Gives a namespace a fresh state. Its clients and their access tokens stay.
    /// - Parameter name: nil for the default world.
    /// - Returns: The number of the new state.
    /// - Throws: ``NamespaceProblem``, the error of SQLite or of the file system.
    func reset(_ name: NamespaceName?) async throws -> Int

    /// Snapshots of a namespace.
    /// - Parameter name: nil for the default world.
    /// - Throws: ``NamespaceProblem/unknown``.
    func snapshots(of name: NamespaceName?) throws -> any SnapshotControl
}

/// A namespace, as operators see it.
package struct NamespaceRecord: Hashable, Sendable {
    package let name: NamespaceName
    package let createdAt: Date
    /// End of the last request or socket.
    package let lastUsedAt: Date
    /// Number of the state: 1 for a fresh namespace, one more after each reset.
    package let state: Int
    package let client: ClientID
    /// Id of the partner whose clinicians log in to the namespace with the partner's tokens.
    package let partner: String
    /// Seed value of the namespace's identifiers; nil for random ones.
    package let seed: SeedValue?

    package init(
        name: NamespaceName, createdAt: Date, lastUsedAt: Date, state: Int, client: ClientID, partner: String,
        seed: SeedValue?
    ) {
        self.name = name
        self.createdAt = createdAt
        self.lastUsedAt = lastUsedAt
        self.state = state
        self.client = client
        self.partner = partner
        self.seed = seed
    }
}

/// Secrets of a namespace's own client. Only the answer to its creation holds them.
package struct NamespaceCredentials: Hashable, Sendable {
    package let secret: String
    package let key: String
    /// A second key of 40 hex digits, for SDKs that check the form.
    package let hexKey: String

    package init(secret: String, key: String, hexKey: String) {
        self.secret = secret
        self.key = key
        self.hexKey = hexKey
    }
}

/// A namespace cannot be made, changed or found.
package enum NamespaceProblem: Error, Hashable, Sendable {
    /// The name is taken.
    case exists
    case unknown
    /// Another call is making, resetting or removing the namespace.
    case busy
    /// The server has its most namespaces.
    case tooMany(limit: Int)
    /// Strict authentication allows no namespaces, unless the setting does.
    case off
    /// The default world keeps its data.
    case persistent
    /// The header and the query of a control call name different namespaces.
    case ambiguous
    /// The clock of a data folder is moved only where a reset is allowed.
    case clockOfFolder
    /// Other servers share the data, and the call would change this server alone.
    case shared
    /// A backup reads the data of the default world.
    case backupRuns
}
