import ScribeDomain
package import ScribeRuntime

/// What one namespace has: its store and what is done with it, who may log in, its keys, and what families keep for it. Two
/// worlds in one process share nothing but the machinery that serves them.
package final class World: Sendable {
    /// Keeps a secret in the data folder, by the name of its file: what is there, or what is made now.
    package typealias SecretFiles =
        @Sendable (_ name: String, _ fresh: @escaping @Sendable () throws -> [UInt8]) async throws -> [UInt8]

    package let runtime: Runtime
    package let changes: ChangeHub
    package let authenticator: Authenticator
    package let credentials: UploadCredentials
    /// Hashes what clients log in with.
    package let secrets: ClientSecrets
    /// For links that are credentials themselves.
    package let tickets: Tickets
    package let secretFiles: SecretFiles
    /// That the world has ended: its sockets are closed then.
    package let end = Departure()
    private let parts = LockedValue<[ObjectIdentifier: any Sendable]>([:])

    package init(
        runtime: Runtime, changes: ChangeHub, authenticator: Authenticator, credentials: UploadCredentials,
        secrets: ClientSecrets,
        tickets: Tickets, secretFiles: @escaping SecretFiles
    ) {
        self.runtime = runtime
        self.changes = changes
        self.authenticator = authenticator
        self.credentials = credentials
        self.secrets = secrets
        self.tickets = tickets
        self.secretFiles = secretFiles
    }

    /// Closes its sockets, and answers held polls with what they have read.
    package func endConnections() {
        end.happened()
        runtime.signals.end()
    }

    /// What a family keeps for this world beside its data, such as its open sockets: one value of a type.
    /// - Parameter make: makes it when it is first asked for. Of several that are made at once one is kept.
    package func part<Part: Sendable>(_ make: (World) -> Part) -> Part {
        let key = ObjectIdentifier(Part.self)
        if let known = parts.withLock({ $0[key] as? Part }) { return known }
        let made = make(self)
        return parts.withLock { parts in
            if let known = parts[key] as? Part { return known }
            parts[key] = made
            return made
        }
    }
}
