import HTTPTypes
package import Hummingbird
import ScribeDomain
package import ScribeHTTP
import ScribeRuntime
import ScribeStore

/// The EkaScribe transaction API, with login, templates, configuration and what is left of its version 1.
///
/// A folder for each tag of `openapi/scribe.yaml`.
package struct EkaFamily: RoutedAPI {
    /// What of it can be set.
    package struct Settings: Sendable {
        /// Whether answers follow the clients or the documentation where those differ.
        package var fidelity = Fidelity.clients
        /// By client id.
        package var clientProfiles: [String: ClientProfile] = [:]
        /// How long a status poll is held; no client waits longer than 16 s (C-30).
        package var longPoll: Duration = .seconds(14)
        package var lifetimes = TokenLifetimes()

        package init() {}
    }

    package static let hostSuffixes = [".eka.care"]
    /// Where whole files are uploaded to, with a form (eka.md 2.12).
    package static let batchBucket = "m-prod-ekascribe-batch"
    /// The vendor's desktop app, as its requests name their origin.
    package static let apps: Set<String> = ["app://ekascribe"]
    /// The hosts that clients have compiled in (eka-v2.md section 1.1).
    package static let hostNames = [
        "api.eka.care", "api.staging.eka.care", "api.dev.eka.care", "cog.eka.care", "cog.staging.eka.care",
        "cog.dev.eka.care", "cook.eka.care", "deepthought-genai.dev.eka.care", "parchi.eka.care", "parchi.dev.eka.care",
    ]

    package let name = "Eka"
    package var hostSuffixes: [String] { Self.hostSuffixes }
    /// An unknown route of these is no upload. Of the others two words count, for a bucket may well be called `health`.
    package let reservedPaths: [[Substring]] = [
        ["voice"], ["connect-auth"], ["v1"], ["notification"], ["dr"], ["profile", "get"], ["api", "v1"],
        ["auth", "activate"],
    ]

    private let runtime: Runtime
    private let authenticator: Authenticator
    private let credentials: UploadCredentials
    private let secrets: ClientSecrets
    private let tickets: Tickets
    private let origin: LinkOrigin
    private let pages: PageOrigins
    private let proxies: TrustedProxies
    private let settings: Settings

    init(_ environment: FamilyEnvironment, settings: Settings) {
        runtime = environment.runtime
        authenticator = environment.authenticator
        credentials = environment.credentials
        secrets = environment.secrets
        tickets = environment.tickets
        origin = environment.origin
        pages = environment.pages
        proxies = environment.proxies
        self.settings = settings
    }

    package func errorTable(for path: [Substring]) -> any ErrorTable {
        switch path.first {
        case "connect-auth": AccountErrors()
        case "notification": ConnectErrors()
        default: EkaErrors()
        }
    }

    /// `Authorization: Bearer` first, else the raw `auth` header (eka.md 1.3).
    @Sendable private static func tokens(in headers: HTTPFields) -> [String] {
        [headers.bearerToken, headers[.auth]].compactMap(\.self)
    }

    package func addRoutes(to router: Router<ScribeContext>) {
        addAccountRoutes(
            to: router.group().add(middleware: ErrorRendering(AccountErrors())),
            devices: router.group().add(middleware: ErrorRendering(EkaErrors())))
        let authentication = Authentication(authenticator, pages: pages, tokens: Self.tokens)
        FileUploadRoutes(
            credentials: credentials, fidelity: settings.fidelity, origin: origin,
            identifiers: runtime.identifiers,
            clock: runtime.clock
        ).add(
            to: router.group().add(middleware: ErrorRendering(FileUploadErrors()))
                .add(middleware: authentication))
        addTemplateRoutes(
            to: router.group().add(middleware: ErrorRendering(TemplateErrors()))
                .add(middleware: authentication))
        documentLinks.add(to: router.group().add(middleware: ErrorRendering(EkaErrors())))
        SubscriptionRoutes(webhooks: runtime.webhooks, queries: runtime.queries).add(
            to: router.group().add(middleware: ErrorRendering(ConnectErrors()))
                .add(middleware: authentication))
        // Rendered inside as well as outside of authentication: inside, the envelope names the business.
        addTransactionRoutes(
            to: router.group()
                .add(middleware: ErrorRendering(EkaErrors()))
                .add(middleware: authentication)
                .add(middleware: ErrorRendering(EkaErrors())))
    }

    private func addAccountRoutes(to group: RouterGroup<ScribeContext>, devices: RouterGroup<ScribeContext>) {
        let authentication = Authentication(authenticator, pages: pages, tokens: Self.tokens)
        let issuing = TokenIssuing(
            store: runtime.store, tokens: authenticator.tokens, clients: authenticator.clients, secrets: secrets,
            lifetimes: settings.lifetimes, identifiers: runtime.identifiers, clock: runtime.clock)
        AccountRoutes(
            store: runtime.store, queries: runtime.queries, throttle: LoginThrottle(clock: runtime.clock),
            secrets: secrets, issuing: issuing, lifetimes: settings.lifetimes, origin: origin,
            pages: pages, proxies: proxies, clock: runtime.clock
        ).add(to: group, pages: devices)
        WhoAmIRoute(queries: runtime.queries).add(to: group.group().add(middleware: authentication))
        DeviceRoutes(
            logins: DeviceLogins(identifiers: runtime.identifiers, clock: runtime.clock), queries: runtime.queries,
            issuing: issuing,
            approver: authenticator.mode == .strict ? nil : authenticator.clients.demoPrincipal.client,
            origin: origin, pages: pages, proxies: proxies,
            identifiers: runtime.identifiers
        ).add(to: devices, authenticated: devices.group().add(middleware: authentication))
    }

    private var documentLinks: DocumentLinks {
        DocumentLinks(
            tickets: tickets, origin: origin, store: runtime.store, queries: runtime.queries,
            clock: runtime.clock)
    }

    private var profiles: ClientProfiles {
        ClientProfiles(fidelity: settings.fidelity, overrides: settings.clientProfiles)
    }

    private func addTemplateRoutes(to group: RouterGroup<ScribeContext>) {
        let (store, queries, templates) = (runtime.store, runtime.queries, runtime.templates)
        let (identifiers, clock) = (runtime.identifiers, runtime.clock)
        TemplateRoutes(
            store: store, queries: queries, catalogue: templates, profiles: profiles, identifiers: identifiers,
            clock: clock
        ).add(to: group)
        SectionRoutes(store: store, queries: queries, catalogue: templates, identifiers: identifiers, clock: clock)
            .add(to: group)
        TemplateDraftRoute(catalogue: templates).add(to: group)
    }

    private func addTransactionRoutes(to group: RouterGroup<ScribeContext>) {
        let (store, queries, consultations) = (runtime.store, runtime.queries, runtime.consultations)
        let (identifiers, clock) = (runtime.identifiers, runtime.clock)
        ConfigRoutes(
            store: store, queries: queries, catalogue: runtime.templates, profiles: profiles, clock: clock
        ).add(to: group)
        FeedbackRoutes(store: store, queries: queries, identifiers: identifiers, clock: clock).add(to: group)
        CredentialRoutes(credentials: credentials).add(to: group)
        HistoryRoutes(queries: queries).add(to: group)
        TransactionRoutes(
            queries: queries, consultations: consultations, fidelity: settings.fidelity, profiles: profiles
        ).add(to: group)
        VoiceRecordRoutes(
            queries: queries, uploads: runtime.uploads, consultations: consultations, facts: runtime.facts,
            identifiers: identifiers, clock: clock
        ).add(to: group)
        ChunkTranscriptRoutes(consultations: consultations).add(to: group)
        TransactionDetailsRoutes(
            store: store, queries: queries, facts: runtime.facts, links: documentLinks,
            uploadLinks: UploadLinks(
                credentials: credentials, tickets: tickets, origin: origin,
                policies: runtime.store.policies, clock: clock)
        ).add(to: group)
        DocumentRoutes(
            store: store, queries: queries, links: documentLinks, identifiers: identifiers, clock: clock
        ).add(to: group)
        ConversionRoutes(consultations: consultations).add(to: group)
        ResultRoutes(
            consultations: consultations, longPoll: settings.longPoll, signals: runtime.signals,
            answers: FinishedAnswers(signals: runtime.signals), profiles: profiles, clock: clock
        ).add(to: group)
    }
}
