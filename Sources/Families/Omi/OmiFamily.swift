package import Foundation
package import Hummingbird
package import ScribeDomain
package import ScribeHTTP
import ScribeRuntime

/// Conversations of wearable devices, as Omi's backend serves them, and text that a device recognised itself
/// (streaming.md 4).
package struct OmiFamily: RoutedAPI {
    /// Settings of the Omi API.
    package struct Settings: Sendable {
        /// Silence that ends a conversation: the least and default value; a client may ask for more.
        package var conversationTimeout: Duration = .seconds(120)
        /// A socket without messages is closed after this time.
        package var idleTime: Duration = .seconds(90)
        /// Key that lets its holder act for any user: `Bearer <key><uid>`; nil to disable it.
        package var adminKey: String?
        /// JWK set (or its URL) to verify Firebase's tokens, and the project that the tokens name.
        ///
        /// Without these, strict mode refuses such tokens, and the other modes trust them.
        package var jwks: Data?
        package var jwksURL: String?
        package var project: String?
        /// Client whose business Firebase's users belong to; nil for the demo tenant.
        package var client: ClientID?

        package init() {}
    }

    package let name = "Omi"

    package func namesWorldLate(_ path: [Substring]) -> Bool { path == ["v4", "web", "listen"] }

    /// Host names compiled into the SDKs.
    package static let hostNames = ["api.omi.me", "api.omiapi.com"]
    package var hostSuffixes: [String] { Self.hostNames }

    let environment: FamilyEnvironment
    /// Verifies Firebase's tokens; nil if not configured.
    let firebase: ForeignTokens?
    let settings: Settings

    /// State of the Omi API in one world.
    private struct Part: Sendable {
        let routes: SocketRoute
        let sockets = OmiSockets()
    }

    private func part(of world: World) -> Part {
        world.part { world in
            Part(
                routes: SocketRoute(
                    of: world, in: environment, limits: .init(idleTime: settings.idleTime, closure: OmiListener.idle)
                ) { error, _ in OmiListener.closure(for: error) })
        }
    }

    private func credentials(of world: World) -> OmiCredentials {
        OmiCredentials(
            authenticator: world.authenticator, adminKey: settings.adminKey, firebase: firebase,
            client: settings.client)
    }

    package let errors: any ErrorTable = OmiErrors()

    @Sendable private func listenRoutes(of world: World) -> OmiListenRoutes {
        let part = part(of: world)
        return OmiListenRoutes(
            world: world, engine: environment.engine, credentials: credentials(of: world), settings: settings,
            routes: part.routes, proxies: environment.proxies, sockets: part.sockets, ofOthers: listenRoutes)
    }

    package func principal(of request: Request, _ path: [Substring], in world: World) async -> Principal? {
        try? await credentials(of: world).principal(in: request.headers)
    }

    package func addRoutes(to routes: RouteGroup) {
        let settings = settings
        OmiListenRoutes.add(to: routes.group(access: .checkedByHandler).routes(listenRoutes))
        let authenticated = routes.group(
            access: Authentication { try await credentials(of: $1).principal(in: $0) }.access)
        ConversationRoutes.add(
            to: authenticated.routes { ConversationRoutes(runtime: $0.runtime, settings: settings) })
        MemoryRoutes.add(to: authenticated.routes { MemoryRoutes(runtime: $0.runtime) })
    }
}
