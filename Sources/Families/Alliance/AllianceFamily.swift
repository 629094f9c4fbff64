import HTTPTypes
package import Hummingbird
package import ScribeDomain
package import ScribeHTTP
package import ScribeRuntime

/// The MedScribe Alliance session protocol (`/voice/v1`, medscribe.md). A folder for what is told of sessions, what is
/// uploaded, what is streamed, and what is known beforehand.
package struct AllianceFamily: RoutedAPI {
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

    /// - Parameters:
    ///   - tickets: for links that are credentials themselves.
    ///   - pages: which of them may use cookies.
    ///   - longPoll: how long a poll is held.
    ///   - counts: how many may stream at a time.
    ///   - streamIdle: after so long without audio a stream is closed.
    package init(
        _ runtime: Runtime, authenticator: Authenticator, credentials: UploadCredentials, tickets: Tickets,
        origin: LinkOrigin, pages: PageOrigins, longPoll: Duration, counts: SocketCounts, streamIdle: Duration,
        memory: MemoryBudget
    ) {
        var limits = SocketRoute.Limits(idleTime: streamIdle, closure: StreamSession.idle)
        // No client caps what it sends in one message (row 62).
        limits.messageSize = 16 << 20
        sockets = SocketRoute(counts, memory: memory, limits: limits, clock: runtime.clock) { error, _ in
            StreamSession.closure(for: error)
        }
        self.pages = pages
        self.runtime = runtime
        self.authenticator = authenticator
        self.credentials = credentials
        self.tickets = tickets
        self.origin = origin
        self.longPoll = longPoll
    }

    package func errorTable(for path: [Substring]) -> any ErrorTable { AllianceErrors() }

    package func addRoutes(to router: Router<ScribeContext>) {
        let open = router.group().add(middleware: ErrorRendering(AllianceErrors()))
        let links = UploadLinks(
            credentials: credentials, tickets: tickets, origin: origin, clock: runtime.clock)
        DiscoveryRoute(origin: origin).add(to: open)
        StreamRoutes(
            sessions: runtime.sessions, streams: runtime.sessionStreams, tickets: tickets, sockets: sockets
        ).add(to: open)
        let authenticated =
            open.group()
            .add(middleware: Authentication(authenticator, pages: pages) { [$0.bearerToken].compactMap(\.self) })
            .add(middleware: ErrorRendering(AllianceErrors()))
        SessionRoutes(
            sessions: runtime.sessions, links: links, longPoll: longPoll, identifiers: runtime.identifiers
        ).add(to: authenticated)
        RunRoutes(sessions: runtime.sessions).add(to: authenticated)
        AudioRoutes(
            sessions: runtime.sessions, uploads: runtime.uploads, clock: runtime.clock
        ).add(to: authenticated)
        CombinedAudioRoutes(
            audio: runtime.sessionAudio, tickets: tickets, origin: origin, clock: runtime.clock
        ).add(to: authenticated, links: open)
        TemplateRoutes(sessions: runtime.sessions).add(to: authenticated)
        WebhookRoutes(webhooks: runtime.webhooks, queries: runtime.queries).add(to: authenticated)
    }
}
