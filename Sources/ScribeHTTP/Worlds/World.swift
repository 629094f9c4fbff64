package import Basics
package import ScribeDomain
package import ScribeRuntime

/// State of one namespace: store, runtime, clients, keys, and parts of families.
///
/// Two worlds of one process share the engines and the HTTP server, and no state.
package final class World: Sendable {
    package let runtime: Runtime
    package let changes: ChangeHub
    package let authenticator: Authenticator
    package let credentials: UploadCredentials
    /// Hashes client secrets and refresh tokens.
    package let secrets: ClientSecrets
    /// Issues links that are credentials themselves.
    package let tickets: Tickets
    package let secretStore: any SecretStore
    /// Namespace and state of the world.
    package let place: WorldPlace
    /// Whether operators may move the clock. The data of a folder are kept from it, unless the server allows resets.
    package let mayMoveClock: Bool
    /// Requests and sockets that the world serves.
    package let use: WorldUse
    /// Fires when the world has ended, so that its sockets close.
    package let end = OneShotSignal()
    private let parts = LockedValue<[ObjectIdentifier: any Sendable]>([:])

    package init(
        runtime: Runtime, changes: ChangeHub, authenticator: Authenticator, credentials: UploadCredentials,
        secrets: ClientSecrets,
        tickets: Tickets, secretStore: any SecretStore, place: WorldPlace = WorldPlace(), mayMoveClock: Bool = false
    ) {
        self.runtime = runtime
        self.changes = changes
        self.authenticator = authenticator
        self.credentials = credentials
        self.secrets = secrets
        self.tickets = tickets
        self.secretStore = secretStore
        self.place = place
        self.mayMoveClock = mayMoveClock
        use = WorldUse(clock: runtime.clock.wall)
    }

    /// Namespace of the world; nil for the default world.
    package var namespace: NamespaceName? { place.namespace }

    /// Closes the world's sockets, and ends its held polls: their transactions are gone.
    package func endConnections() {
        end.fire()
        runtime.signals.end()
    }

    /// A family's own value for this world, such as its open sockets; one value per type.
    /// - Parameter make: Makes the value at first use. Of several made concurrently one is kept.
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
