import HTTPTypes
package import Hummingbird
import ScribeDomain
package import ScribeHTTP
import ScribeRuntime
import ScribeStore

/// The MedScribe Alliance session protocol (`/voice/v1`, medscribe.md). A folder for what is told of sessions, what is
/// uploaded, what is streamed, and what is known beforehand.
package struct AllianceFamily: RoutedAPI {
    /// What of it can be set.
    package struct Settings: Sendable {
        /// How long a session may be open.
        package var lifetime: Duration = .seconds(SessionPolicy.usualLifetime)
        /// How long a poll is held.
        package var longPoll: Duration = .seconds(14)
        /// After so long without audio a stream is closed.
        package var streamIdle: Duration = .seconds(300)

        package init() {}
    }

    package let name = "Alliance"
    package let reservedPaths: [[Substring]] = [["voice", "v1"]]

    private let runtime: Runtime
    private let authenticator: Authenticator
    private let credentials: UploadCredentials
    private let tickets: Tickets
    private let origin: LinkOrigin
    private let pages: PageOrigins
    private let longPoll: Duration
    private let sockets: SocketRoute

    /// - Parameter counts: how many may stream at a time.
    init(_ environment: FamilyEnvironment, counts: SocketCounts, settings: Settings) {
        var limits = SocketRoute.Limits(idleTime: settings.streamIdle, closure: StreamSession.idle)
        // No client caps what it sends in one message (row 62).
        limits.messageSize = 16 << 20
        sockets = SocketRoute(
            counts, memory: environment.memory, limits: limits, clock: environment.runtime.clock
        ) { error, _ in StreamSession.closure(for: error) }
        runtime = environment.runtime
        authenticator = environment.authenticator
        credentials = environment.credentials
        tickets = environment.tickets
        origin = environment.origin
        pages = environment.pages
        longPoll = settings.longPoll
    }

    package func errorTable(for path: [Substring]) -> any ErrorTable { AllianceErrors() }

    package func addRoutes(to router: Router<ScribeContext>) {
        let open = router.group().add(middleware: ErrorRendering(AllianceErrors()))
        let links = UploadLinks(
            credentials: credentials, tickets: tickets, origin: origin, policies: runtime.store.policies,
            clock: runtime.clock)
        let sessions = Sessions(runtime)
        DiscoveryRoute(origin: origin).add(to: open)
        StreamRoutes(
            sessions: sessions, streams: runtime.sessionStreams, tickets: tickets, sockets: sockets
        ).add(to: open)
        let authenticated =
            open.group()
            .add(middleware: Authentication(authenticator, pages: pages) { [$0.bearerToken].compactMap(\.self) })
            .add(middleware: ErrorRendering(AllianceErrors()))
        SessionRoutes(
            sessions: sessions, links: links, longPoll: longPoll, identifiers: runtime.identifiers
        ).add(to: authenticated)
        RunRoutes(sessions: sessions).add(to: authenticated)
        AudioRoutes(
            sessions: sessions, uploads: runtime.uploads, clock: runtime.clock
        ).add(to: authenticated)
        CombinedAudioRoutes(
            audio: runtime.sessionAudio, tickets: tickets, origin: origin, clock: runtime.clock
        ).add(to: authenticated, links: open)
        TemplateRoutes(sessions: sessions).add(to: authenticated)
        WebhookRoutes(webhooks: runtime.webhooks, queries: runtime.queries).add(to: authenticated)
    }
}
