package import Hummingbird
package import ScribeDomain
package import ScribeHTTP
import ScribeRuntime
import ScribeStore

/// Suki's API (suki.md): logins, ambient sessions, their audio sockets and their results. Each part
/// has its own source folder.
package struct SukiFamily: RoutedAPI {
    /// Settings of ambient sessions.
    package struct Settings: Sendable {
        /// The shortest recording that gets results.
        package var minimumDuration: Duration = .seconds(60)
        /// The longest time that an ambient session may be open.
        package var lifetime: Duration = .seconds(AmbientPolicy.usualLifetime)

        package init() {}
    }

    package let name = "Suki"
    /// Host names that are compiled into Suki's clients.
    package static let hostNames = ["sdp.suki.ai", "sdp.suki-stage.com"]
    package var hostSuffixes: [String] { Self.hostNames }
    package let reservedPaths: [[Substring]] = [
        ["api", "v1", "auth"], ["api", "v1", "ambient"], ["api", "v1", "user"], ["api", "v1", "info"],
        ["api", "auth"], ["ws", "stream"],
    ]

    let environment: FamilyEnvironment
    let settings: Settings

    /// The family's state in one world.
    private struct Part: Sendable {
        let clinicians: Clinicians
        let ambient: AmbientSockets
        let sockets: SocketRoute
    }

    private func part(of world: World) -> Part {
        world.part { world in
            let clock = world.runtime.clock
            let tokens = SukiTokens(secrets: world.secretStore, clock: clock, namespace: world.namespace)
            return Part(
                clinicians: Clinicians(
                    runtime: world.runtime, tokens: tokens, partners: world.part { _ in KnownPartners([]) },
                    tokenVerifier: PartnerTokenVerifier(outbound: world.runtime.outbound, clock: clock.wall),
                    clients: world.authenticator.clients, mode: world.authenticator.mode),
                ambient: AmbientSockets(world.runtime.sessionStreams, clock: clock.wall),
                sockets: SocketRoute(
                    of: world, in: environment,
                    limits: .init(idleTime: StreamSession.idleTime, closure: StreamSession.idle),
                    explain: StreamSession.explain))
        }
    }

    private func sessions(of world: World) -> AmbientSessions {
        AmbientSessions(runtime: world.runtime, minimumDuration: settings.minimumDuration / .seconds(1))
    }

    package let errors: any ErrorTable = SukiErrors()

    package func credentials(of request: Request, _ path: [Substring]) -> OfferedCredentials {
        let isLogin =
            request.method == .post
            && [["api", "v1", "auth", "login"], ["api", "v1", "auth", "register"]]
                .contains(path)
        return OfferedCredentials(
            head: [
                request.headers.value(of: .sukiToken), StreamRoutes.token(in: request.headers),
                path.starts(with: RecordingRoutes.links) ? path.last.map(String.init) : nil,
            ],
            bodyFields: isLogin ? ["partner_id"] : [])
    }

    package func principal(of request: Request, _ path: [Substring], in world: World) async -> Principal? {
        try? await part(of: world).clinicians.principal(in: request.headers)
    }

    package func addRoutes(to routes: RouteGroup) {
        let links = routes.group(access: .checkedByHandler)
        AuthRoutes.add(
            to: routes.group(access: .open).routes { world in
                AuthRoutes(clinicians: part(of: world).clinicians) { part(of: $0).clinicians.tokens }
            })
        StreamRoutes.add(
            to: links.routes { world in
                let part = part(of: world)
                return StreamRoutes(
                    sessions: sessions(of: world), clinicians: part.clinicians, ambient: part.ambient,
                    sockets: part.sockets, clock: world.runtime.clock.wall)
            })
        /// Requires a login. `invalid` is the error code for a bad body, which differs by route.
        func authenticated(_ invalid: String) -> RouteGroup {
            routes.group(
                errors: SukiErrors(invalid: invalid),
                access: Authentication { try await part(of: $1).clinicians.principal(in: $0) }.access)
        }
        let requests = authenticated("invalid_request")
        let sessionRoutes: @Sendable (World) -> SessionRoutes = { world in
            SessionRoutes(sessions: sessions(of: world), sockets: part(of: world).ambient)
        }
        SessionRoutes.add(
            to: requests.routes(sessionRoutes),
            contexts: authenticated("invalid_context_request").routes(sessionRoutes))
        AudioRoutes.add(to: requests.routes { AudioRoutes(sessions: sessions(of: $0)) })
        ContentRoutes.add(to: requests.routes { ContentRoutes(sessions: sessions(of: $0)) })
        let recordings: @Sendable (World) -> RecordingRoutes = { [origin = environment.origin] world in
            RecordingRoutes(sessions: sessions(of: world), tickets: world.tickets, origin: origin)
        }
        RecordingRoutes.add(to: requests.routes(recordings), links: links.routes(recordings))
        FeedbackRoutes.add(
            to: authenticated("invalid_feedback_request").routes { FeedbackRoutes(sessions: sessions(of: $0)) })
        PreferenceRoutes.add(to: requests.routes { PreferenceRoutes(runtime: $0.runtime) })
        InfoRoutes.add(to: requests)
    }
}
