import Engines
package import Hummingbird
import ScribeDomain
package import ScribeHTTP
import ScribeRuntime

/// Live recognition as Deepgram and SubQ serve it: audio goes in over a socket, words come out while they are spoken.
package struct ListenFamily: RoutedAPI {
    /// What of it can be set.
    package struct Settings: Sendable {
        /// After so long without audio or a text the socket is closed.
        package var idleTime: Duration = .seconds(10)
        /// How many sockets may be open, of one business and in all.
        package var socketsOfBusiness = 200
        package var sockets = 1000
        /// Whether the answers are SubQ's where it differs from Deepgram.
        package var speaksSubQ = false
        /// How long it may take to fetch a recording and recognise it.
        package var fetchTime: Duration = .seconds(600)

        package init() {}
    }

    package let name = "Listen"
    /// The hosts that clients have compiled in.
    package static let hostNames = ["api.deepgram.com", "api.subquadratic.ai", "stt-api.subq.ai", "api.aldea.ai"]
    package var hostSuffixes: [String] { Self.hostNames }
    /// Of Deepgram's, whatever the host.
    package let reservedPaths: [[Substring]] = [["v1", "auth"], ["v2", "listen"]]

    private let routes: ListenRoutes
    private let recordings: ListenRecordingRoutes
    private let grants: ListenGrantRoutes
    private let settings: Settings

    init(_ environment: FamilyEnvironment, settings: Settings) {
        let runtime = environment.runtime
        let authentication = ListenAuthentication(
            authenticator: environment.authenticator, tickets: environment.tickets)
        grants = ListenGrantRoutes(authentication: authentication)
        var limits = SocketRoute.Limits(idleTime: settings.idleTime, closure: ListenSession.idle)
        // Three seconds of audio in one message are usual, and a minute is not too much.
        limits.messageSize = 16 << 20
        // Texts are commands: the longest has some hundred key terms.
        limits.textSize = 64 << 10
        routes = ListenRoutes(
            engine: environment.engine, recordings: runtime.liveRecordings, authentication: authentication,
            identifiers: runtime.identifiers, clock: runtime.clock,
            settings: settings,
            sockets: SocketRoute(
                SocketCounts(most: settings.sockets, mostOfBusiness: settings.socketsOfBusiness),
                memory: environment.memory,
                limits: limits, clock: runtime.clock
            ) { error, _ in ListenSession.closure(for: error) })
        self.settings = settings
        recordings = ListenRecordingRoutes(
            recognitions: runtime.recognitions, outbound: runtime.outbound, webhooks: runtime.webhooks,
            authentication: authentication,
            identifiers: runtime.identifiers, clock: runtime.clock, settings: settings)
    }

    package func errorTable(for path: [Substring]) -> any ErrorTable { errors }

    private var errors: ListenErrors { ListenErrors(speaksSubQ: settings.speaksSubQ) }

    package func addRoutes(to router: Router<ScribeContext>) {
        let group = router.group().add(middleware: ErrorRendering(errors))
        routes.add(to: group)
        recordings.add(to: group)
        grants.add(to: group)
    }
}
