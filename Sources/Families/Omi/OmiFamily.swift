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

    private let listen: OmiListenRoutes
    private let conversations: ConversationRoutes
    private let memories: MemoryRoutes
    private let authentication: Authentication

    /// - Parameter firebase: verifies its tokens, where that is set.
    init(_ environment: FamilyEnvironment, firebase: ForeignTokens?, settings: Settings) {
        let runtime = environment.runtime
        let credentials = OmiCredentials(
            authenticator: environment.authenticator, adminKey: settings.adminKey, firebase: firebase,
            client: settings.client)
        listen = OmiListenRoutes(
            runtime: runtime, engine: environment.engine, credentials: credentials, settings: settings,
            routes: SocketRoute(
                SocketCounts(most: settings.sockets, mostOfBusiness: settings.socketsOfBusiness),
                memory: environment.memory,
                limits: .init(idleTime: settings.idleTime, closure: OmiListener.idle), clock: runtime.clock
            ) { error, _ in OmiListener.closure(for: error) },
            proxies: environment.proxies)
        conversations = ConversationRoutes(
            store: runtime.store, queries: runtime.queries, conversations: runtime.conversations,
            metrics: runtime.metrics, identifiers: runtime.identifiers, settings: settings)
        memories = MemoryRoutes(
            store: runtime.store, queries: runtime.queries, identifiers: runtime.identifiers, clock: runtime.clock)
        authentication = Authentication { try await credentials.principal(in: $0) }
    }

    package func errorTable(for path: [Substring]) -> any ErrorTable { OmiErrors() }

    package func addRoutes(to router: Router<ScribeContext>) {
        let group = router.group().add(middleware: ErrorRendering(OmiErrors()))
        listen.add(to: group)
        let authenticated = group.group().add(middleware: authentication)
        conversations.add(to: authenticated)
        memories.add(to: authenticated)
    }
}
