package import Foundation
package import Hummingbird
package import ScribeDomain
package import ScribeHTTP
import ScribeRuntime

/// Conversations of wearable devices as Omi's backend serves them, and the text that a device has recognised itself
/// (streaming.md 4).
package struct OmiFamily: RoutedAPI {
    /// What of it can be set.
    package struct Settings: Sendable {
        /// How long silence lasts at least before a conversation is over, and how long unless a client says.
        package var conversationTimeout: Duration = .seconds(120)
        /// After so long without a message a socket is closed.
        package var idleTime: Duration = .seconds(90)
        /// Lets whoever knows it act for any user: `Bearer <key><uid>`. Nil: nobody.
        package var adminKey: String?
        /// A JWK set with which Firebase's tokens are verified, or its URL, and the project that the tokens name. Without
        /// them, strict mode refuses such tokens, and the other modes trust them.
        package var jwks: Data?
        package var jwksURL: String?
        package var project: String?
        /// For whose business Firebase's users act; nil for the demo tenant's.
        package var client: ClientID?
        /// How many sockets may be open, of one business and in all.
        package var socketsOfBusiness = 200
        package var sockets = 1000

        package init() {}
    }

    package let name = "Omi"
    /// The hosts that clients have compiled in.
    package static let hostNames = ["api.omi.me", "api.omiapi.com"]
    package var hostSuffixes: [String] { Self.hostNames }

    private let environment: FamilyEnvironment
    private let firebase: ForeignTokens?
    private let settings: Settings

    /// - Parameter firebase: verifies its tokens, where that is set.
    init(_ environment: FamilyEnvironment, firebase: ForeignTokens?, settings: Settings) {
        self.environment = environment
        self.firebase = firebase
        self.settings = settings
    }

    /// What the family keeps for a world.
    private struct Part: Sendable {
        let routes: SocketRoute
        let sockets = OmiSockets()
    }

    private func part(of world: World) -> Part {
        world.part { world in
            Part(
                routes: SocketRoute(
                    SocketCounts(.init(most: settings.sockets, mostOfBusiness: settings.socketsOfBusiness)),
                    of: world, memory: environment.memory,
                    limits: .init(idleTime: settings.idleTime, closure: OmiListener.idle)
                ) { error, _ in OmiListener.closure(for: error) })
        }
    }

    private func credentials(of world: World) -> OmiCredentials {
        OmiCredentials(
            authenticator: world.authenticator, adminKey: settings.adminKey, firebase: firebase,
            client: settings.client)
    }

    package func errorTable(for path: [Substring]) -> any ErrorTable { OmiErrors() }

    package func addRoutes(to router: Router<ScribeContext>) {
        let group = router.group().add(middleware: ErrorRendering(OmiErrors()))
        let (environment, settings) = (environment, settings)
        OmiListenRoutes.add(
            to: group.routes { world in
                let part = part(of: world)
                return OmiListenRoutes(
                    runtime: world.runtime, engine: environment.engine, credentials: credentials(of: world),
                    settings: settings, routes: part.routes, proxies: environment.proxies, sockets: part.sockets)
            })
        let authenticated = group.group()
            .add(middleware: Authentication { try await credentials(of: $1).principal(in: $0) })
        ConversationRoutes.add(
            to: authenticated.routes { world in
                let runtime = world.runtime
                return ConversationRoutes(
                    store: runtime.store, queries: runtime.queries, conversations: runtime.conversations,
                    metrics: runtime.metrics, identifiers: runtime.identifiers, settings: settings)
            })
        MemoryRoutes.add(
            to: authenticated.routes { world in
                let runtime = world.runtime
                return MemoryRoutes(
                    store: runtime.store, queries: runtime.queries, identifiers: runtime.identifiers,
                    clock: runtime.clock)
            })
    }
}
