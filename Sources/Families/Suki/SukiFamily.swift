package import Hummingbird
import ScribeDomain
package import ScribeHTTP
import ScribeRuntime

/// Suki's ambient sessions (suki.md): who logs in, sessions, the socket over which they are recorded, and what becomes of
/// them. A folder for each.
package struct SukiFamily: RoutedAPI {
    /// What of it can be set.
    package struct Settings: Sendable {
        /// What is recorded for less time is made nothing of.
        package var shortest: Duration = .seconds(60)
        /// How long a session may be open.
        package var lifetime: Duration = .seconds(AmbientPolicy.usualLifetime)

        package init() {}
    }

    package let name = "Suki"
    /// The hosts that clients have compiled in.
    package static let hostNames = ["sdp.suki.ai", "sdp.suki-stage.com"]
    package var hostSuffixes: [String] { Self.hostNames }
    package let reservedPaths: [[Substring]] = [
        ["api", "v1", "auth"], ["api", "v1", "ambient"], ["api", "v1", "user"], ["api", "v1", "info"],
        ["api", "auth"], ["ws", "stream"],
    ]

    private let runtime: Runtime
    private let sessions: AmbientSessions
    private let clinicians: Clinicians
    private let tickets: Tickets
    private let origin: LinkOrigin
    private let sockets: SocketRoute

    /// - Parameters:
    ///   - partners: those whose clinicians log in.
    ///   - counts: how many may stream at a time.
    init(_ environment: FamilyEnvironment, partners: KnownPartners, counts: SocketCounts, settings: Settings) {
        let runtime = environment.runtime
        let tokens = SukiTokens(
            keyFile: { try await environment.secretFiles(SukiContribution.keyFile, $0) }, clock: runtime.clock)
        sockets = SocketRoute(
            counts, memory: environment.memory,
            limits: .init(idleTime: StreamSession.idleTime, closure: StreamSession.idle), clock: runtime.clock,
            explain: StreamSession.explain)
        self.runtime = runtime
        clinicians = Clinicians(
            runtime, tokens: tokens, partners: partners, clients: environment.authenticator.clients,
            mode: environment.authenticator.mode)
        sessions = AmbientSessions(runtime, shortest: settings.shortest / .seconds(1))
        tickets = environment.tickets
        origin = environment.origin
    }

    package func errorTable(for path: [Substring]) -> any ErrorTable { SukiErrors() }

    package func addRoutes(to router: Router<ScribeContext>) {
        let open = router.group().add(middleware: ErrorRendering(SukiErrors()))
        let ambient = AmbientSockets(clock: runtime.clock)
        AuthRoutes(clinicians: clinicians).add(to: open)
        StreamRoutes(
            sessions: sessions, clinicians: clinicians, ambient: ambient, sockets: sockets,
            clock: runtime.clock
        ).add(to: open)
        /// What is wrong with a body has another name in each place.
        func authenticated(_ invalid: String) -> RouterGroup<ScribeContext> {
            open.group()
                .add(middleware: Authentication { [clinicians] in try await clinicians.principal(in: $0) })
                .add(middleware: ErrorRendering(SukiErrors(invalid: invalid)))
        }
        SessionRoutes(sessions: sessions, sockets: ambient).add(
            to: authenticated("invalid_request"), contexts: authenticated("invalid_context_request"))
        AudioRoutes(sessions: sessions).add(to: authenticated("invalid_request"))
        ContentRoutes(sessions: sessions).add(to: authenticated("invalid_request"))
        RecordingRoutes(
            sessions: sessions, uploads: runtime.uploads, queries: runtime.queries, tickets: tickets,
            origin: origin, clock: runtime.clock
        ).add(to: authenticated("invalid_request"), links: open)
        FeedbackRoutes(
            sessions: sessions, store: runtime.store, identifiers: runtime.identifiers,
            clock: runtime.clock
        ).add(to: authenticated("invalid_feedback_request"))
        PreferenceRoutes(store: runtime.store, queries: runtime.queries, clock: runtime.clock).add(
            to: authenticated("invalid_request"))
        InfoRoutes().add(to: authenticated("invalid_request"))
    }
}
