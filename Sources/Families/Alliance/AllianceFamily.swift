import HTTPTypes
package import Hummingbird
import ScribeDomain
package import ScribeHTTP
import ScribeRuntime

/// The MedScribe Alliance session protocol (`/voice/v1`, medscribe.md).
///
/// One folder for each part: sessions, audio uploads, audio streams, runs, webhooks, templates and discovery.
package struct AllianceFamily: RoutedAPI {
    /// Settings of the session protocol.
    package struct Settings: Sendable {
        /// Time from a protocol session's start until the session expires.
        package var lifetime: Duration = .seconds(SessionPolicy.usualLifetime)
        /// Whether audio makes a session's lifetime no longer (`--strict-docs`).
        package var isStrict = false
        /// Longest wait of a poll.
        package var longPoll: Duration = .seconds(14)
        /// A stream without audio is closed after this time.
        package var streamIdle: Duration = .seconds(300)

        package init() {}
    }

    /// Paths of a session's audio: `AudioRoutes` for files, `StreamRoutes` for sockets.
    static let uploadPaths = UploadPaths(
        flavoursWithoutForm: ["ekascribe-desktop-mac", "ekascribe-desktop-windows"]
    ) {
        "/voice/v1/sessions/\($0)/audio"
    } stream: {
        "/voice/v1/stream/sessions/\($0)/audio"
    }

    package let name = "Alliance"
    package let reservedPaths: [[Substring]] = [["voice", "v1"]]

    let environment: FamilyEnvironment
    let settings: Settings

    /// The open audio streams of one world.
    private struct Streams: Sendable {
        let sockets: SocketRoute
    }

    private func sockets(of world: World) -> SocketRoute {
        world.part { world in
            var limits = SocketRoute.Limits(idleTime: settings.streamIdle, closure: StreamSession.idle)
            // No SDK limits the size of one message (row 62). In bytes.
            limits.messageSize = 16 << 20
            return Streams(
                sockets: SocketRoute(of: world, in: environment, limits: limits) { error, _ in
                    StreamSession.closure(for: error)
                })
        }.sockets
    }

    package let errors: any ErrorTable = AllianceErrors()

    package func credentials(of request: Request, _ path: [Substring]) -> OfferedCredentials {
        let cookie = SessionCookies(request.headers).accessToken
        let token = request.headers.bearerToken
        let isStream = path.count == 6 && path.starts(with: ["voice", "v1", "stream", "sessions"])
        let isAudio = path.count == 4 && path.starts(with: ["voice", "v1", "audio"])
        return OfferedCredentials(head: [
            token ?? cookie, isStream ? String(path[4]) : nil, isAudio ? String(path[3]) : nil,
        ])
    }

    package func addRoutes(to routes: RouteGroup) {
        let (open, links) = (routes.group(access: .open), routes.group(access: .checkedByHandler))
        let (origin, settings) = (environment.origin, settings)
        DiscoveryRoute.add(to: open.routes { _ in DiscoveryRoute(origin: origin) })
        StreamRoutes.add(
            to: links.routes { world in
                StreamRoutes(
                    sessions: ProtocolSessions(world.runtime), streams: world.runtime.sessionStreams,
                    tickets: world.tickets,
                    sockets: sockets(of: world), clock: world.runtime.clock.wall)
            })
        let authenticated = routes.group(
            access: Authentication(pages: environment.pages) { [$0.bearerToken].compactMap(\.self) }.access)
        SessionRoutes.add(
            to: authenticated.routes { world in
                SessionRoutes(
                    sessions: ProtocolSessions(world.runtime),
                    links: UploadLinks(world, Self.uploadPaths, origin: origin),
                    longPoll: settings.longPoll, identifiers: world.runtime.identifiers)
            })
        RunRoutes.add(to: authenticated.routes { RunRoutes(sessions: ProtocolSessions($0.runtime)) })
        AudioRoutes.add(
            to: authenticated.routes { world in
                AudioRoutes(
                    sessions: ProtocolSessions(world.runtime), uploads: world.runtime.uploads,
                    clock: world.runtime.clock)
            })
        let combined: @Sendable (World) -> CombinedAudioRoutes = { CombinedAudioRoutes(world: $0, origin: origin) }
        CombinedAudioRoutes.add(to: authenticated.routes(combined), links: links.routes(combined))
        TemplateRoutes.add(to: authenticated.routes { TemplateRoutes(sessions: ProtocolSessions($0.runtime)) })
        WebhookRoutes.add(
            to: authenticated.routes { WebhookRoutes(webhooks: $0.runtime.webhooks, store: $0.runtime.store) })
    }
}
