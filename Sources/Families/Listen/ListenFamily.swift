import Engines
package import Hummingbird
package import ScribeDomain
package import ScribeHTTP
import ScribeRuntime

/// Live recognition as Deepgram and SubQ serve it: audio in over a WebSocket, words out while they are spoken.
package struct ListenFamily: RoutedAPI {
    /// Settings of live recognition.
    package struct Settings: Sendable {
        /// A socket without audio and without commands is closed after this time.
        package var idleTime: Duration = .seconds(10)
        /// Whether answers follow SubQ where it differs from Deepgram.
        package var speaksSubQ = false
        /// Names of models beside Deepgram's, and ids of custom ones.
        package var models: Set<String> = []
        /// Whether a stream without audio ends, whatever messages keep it alive.
        package var needsAudio = false
        /// Longest time to fetch and recognise a recording.
        package var fetchTime: Duration = .seconds(600)

        package init() {}
    }

    package let name = "Listen"
    /// Host names compiled into the SDKs.
    package static let hostNames = ["api.deepgram.com"] + subQHostNames
    static let subQHostNames = ["api.subquadratic.ai", "stt-api.subq.ai", "api.aldea.ai"]
    package var hostSuffixes: [String] { Self.hostNames }
    /// Paths that belong to Deepgram's API on any host.
    package let reservedPaths: [[Substring]] = [["v1", "auth"], ["v1", "models"], ["v2", "listen"]]

    let environment: FamilyEnvironment
    let settings: Settings

    /// The open sockets of one world.
    private struct Streams: Sendable {
        let sockets: SocketRoute
    }

    private func sockets(of world: World) -> SocketRoute {
        world.part { world in
            var limits = SocketRoute.Limits(idleTime: settings.idleTime, closure: ListenSession.idle)
            // In bytes: three seconds of audio per message are usual, and a minute fits.
            limits.messageSize = 16 << 20
            // In bytes. Texts are commands; the longest lists some hundred key terms.
            limits.textSize = 64 << 10
            return Streams(
                sockets: SocketRoute(of: world, in: environment, limits: limits) { error, _ in
                    ListenSession.closure(for: error)
                })
        }.sockets
    }

    package var errors: any ErrorTable { ListenErrors(speaksSubQ: settings.speaksSubQ) }

    package func credentials(of request: Request, _ path: [Substring]) -> OfferedCredentials {
        OfferedCredentials(head: [ListenCredentials(request.headers).key])
    }

    package func principal(of request: Request, _ path: [Substring], in world: World) async -> Principal? {
        try? await ListenAuthentication(world: world).principal(ListenCredentials(request.headers))
    }

    package func addRoutes(to routes: RouteGroup) {
        let group = routes.group(access: .checkedByHandler)
        let (engine, settings) = (environment.engine, settings)
        ListenRoutes.add(
            to: group.routes { world in
                ListenRoutes(
                    engine: engine, runtime: world.runtime, authentication: ListenAuthentication(world: world),
                    settings: settings, sockets: sockets(of: world))
            })
        ListenRecordingRoutes.add(
            to: group.routes {
                ListenRecordingRoutes(
                    runtime: $0.runtime, authentication: ListenAuthentication(world: $0), settings: settings)
            })
        ListenModelRoutes.add(to: routes.group(access: .open).routes { _ in ListenModelRoutes() })
        ListenGrantRoutes.add(to: group.routes { ListenGrantRoutes(authentication: ListenAuthentication(world: $0)) })
    }
}
