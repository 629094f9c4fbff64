import HTTPTypes
package import Hummingbird
import ScribeDomain
package import ScribeHTTP
import ScribeRuntime

/// The EkaScribe transaction API: transactions, login, templates, configuration, and the rest of its version 1.
///
/// One folder for each tag of `openapi/scribe.yaml`.
package struct EkaFamily: RoutedAPI {
    /// Settings of the EkaScribe API.
    package struct Settings: Sendable {
        /// Whether answers follow the vendor's documentation where its SDKs need something else (`--strict-docs`).
        package var isStrict = false
        /// SDK profiles by client id.
        package var clientProfiles: [String: ClientProfile] = [:]
        /// Longest wait of a status poll. No SDK waits longer than 16 s (C-30).
        package var longPoll: Duration = .seconds(14)
        package var lifetimes = TokenLifetimes()

        package init() {}
    }

    package static let hostSuffixes = [".eka.care"]
    /// Bucket for whole files, which are uploaded with signed forms (eka.md 2.12).
    package static let batchBucket = "m-prod-ekascribe-batch"
    /// Origin header of the vendor's desktop app.
    package static let apps: Set<String> = ["app://ekascribe"]
    /// Host names compiled into the SDKs (eka-v2.md section 1.1).
    package static let hostNames = [
        "api.eka.care", "api.staging.eka.care", "api.dev.eka.care", "cog.eka.care", "cog.staging.eka.care",
        "cog.dev.eka.care", "cook.eka.care", "deepthought-genai.dev.eka.care", "parchi.eka.care", "parchi.dev.eka.care",
    ]

    package let name = "Eka"
    package var hostSuffixes: [String] { Self.hostSuffixes }
    /// Prefixes of the API's own paths: an unknown route below one is a 404, never an upload to S3.
    ///
    /// Other routes claim their first two components, since a bucket may be called `health`.
    package let reservedPaths: [[Substring]] = [
        ["voice"], ["connect-auth"], ["v1"], ["notification"], ["dr"], ["profile", "get"], ["api", "v1"],
        ["auth", "activate"],
    ]

    let environment: FamilyEnvironment
    let settings: Settings

    package let errors: any ErrorTable = EkaErrors()

    package func credentials(of request: Request, _ path: [Substring]) -> OfferedCredentials {
        var offered = OfferedCredentials(
            head: Self.tokens(in: request.headers)
                + [path.starts(with: DocumentLinks.components) ? path.last.map(String.init) : nil])
        if request.method == .post, path.first == "connect-auth", let fields = Self.credentialFields[path] {
            offered.bodyFields = fields
            offered.bodyLimit = AccountRoutes.bodyLimit
        }
        if offered.head.isEmpty {
            let cookies = SessionCookies(request.headers)
            offered.head = [cookies.accessToken, cookies.refreshToken].compactMap(\.self)
        }
        return offered
    }

    /// Fields with credentials in the bodies of logins.
    private static let credentialFields: [[Substring]: [String]] = [
        ["connect-auth", "v1", "login"]: ["username"],
        ["connect-auth", "v1", "account", "login"]: ["client_id"],
        ["connect-auth", "v1", "account", "refresh-token"]: ["refresh_token"],
        ["connect-auth", "v1", "account", "refresh"]: ["refresh_token"],
        ["connect-auth", "v1", "account", "logout"]: ["refresh_token"],
        ["connect-auth", "v1", "refresh"]: ["refresh_token"],
        ["connect-auth", "v1", "device", "token"]: ["device_code"],
    ]

    /// Access tokens of a request: `Authorization: Bearer` first, then the raw `auth` header (eka.md 1.3).
    @Sendable private static func tokens(in headers: HTTPFields) -> [String] {
        [headers.bearerToken, headers.value(of: .auth)].compactMap(\.self)
    }

    package func addRoutes(to routes: RouteGroup) {
        addAccountRoutes(to: routes)
        let authenticated = routes.group(access: authentication.access)
        addTransactionRoutes(to: authenticated)
        addTemplateRoutes(to: authenticated.group(errors: TemplateErrors()))
        FileUploadRoutes.add(
            to: authenticated.group(errors: FileUploadErrors()).routes { [settings, origin] world in
                FileUploadRoutes(
                    credentials: world.credentials, isStrict: settings.isStrict, origin: origin,
                    identifiers: world.runtime.identifiers, clock: world.runtime.clock)
            })
        DocumentLinks.add(
            to: routes.group(access: .checkedByHandler).routes { [origin] in DocumentLinks(world: $0, origin: origin) })
        SubscriptionRoutes.add(
            to: authenticated.group(errors: ConnectErrors()).routes {
                SubscriptionRoutes(webhooks: $0.runtime.webhooks, store: $0.runtime.store)
            })
    }

    private var origin: LinkOrigin { environment.origin }

    private var authentication: Authentication { Authentication(pages: environment.pages, tokens: Self.tokens) }

    private var profiles: ClientProfiles {
        ClientProfiles(isStrict: settings.isStrict, overrides: settings.clientProfiles)
    }

    private func addAccountRoutes(to routes: RouteGroup) {
        let open = routes.group(access: .open)
        let accounts: @Sendable (World) -> AccountRoutes = { [environment, settings] world in
            AccountRoutes(
                tokenIssuer: TokenIssuer(world: world, lifetimes: settings.lifetimes), environment: environment,
                throttle: world.part { LoginThrottle(clock: $0.runtime.clock.wall, secrets: $0.secrets) })
        }
        AccountRoutes.add(
            to: open.group(errors: AccountErrors()).routes(accounts), pages: open.routes(accounts))
        WhoAmIRoute.add(
            to: routes.group(errors: AccountErrors(), access: authentication.access)
                .routes { WhoAmIRoute(store: $0.runtime.store) })
        let deviceRoutes: @Sendable (World) -> DeviceRoutes = { [environment, settings] world in
            DeviceRoutes(
                tokenIssuer: TokenIssuer(world: world, lifetimes: settings.lifetimes), environment: environment)
        }
        DeviceRoutes.add(
            to: open.routes(deviceRoutes),
            authenticated: routes.group(access: authentication.access).routes(deviceRoutes))
    }

    private func addTemplateRoutes(to group: RouteGroup) {
        TemplateRoutes.add(
            to: group.routes { [profiles] in TemplateRoutes(runtime: $0.runtime, profiles: profiles) })
        SectionRoutes.add(to: group.routes { SectionRoutes(runtime: $0.runtime) })
        TemplateDraftRoute.add(to: group.routes { TemplateDraftRoute(catalogue: $0.runtime.templates) })
    }

    private func addTransactionRoutes(to group: RouteGroup) {
        let (settings, origin, profiles) = (settings, origin, profiles)
        let uploadPaths = environment.uploadPaths
        ConfigRoutes.add(to: group.routes { ConfigRoutes(runtime: $0.runtime, profiles: profiles) })
        FeedbackRoutes.add(to: group.routes { FeedbackRoutes(runtime: $0.runtime) })
        CredentialRoutes.add(to: group.routes { CredentialRoutes(credentials: $0.credentials) })
        HistoryRoutes.add(
            to: group.routes { HistoryRoutes(store: $0.runtime.store, profiles: profiles) })
        let transactions: @Sendable (World) -> TransactionRoutes = {
            TransactionRoutes(
                runtime: $0.runtime, isStrict: settings.isStrict, unknown: $0.part { _ in UnknownOptionLog() })
        }
        TransactionRoutes.add(
            to: group.routes(transactions), stops: group.group(errors: profiles.errorsOfStop).routes(transactions))
        VoiceRecordRoutes.add(to: group.routes { VoiceRecordRoutes(runtime: $0.runtime) })
        ChunkTranscriptRoutes.add(
            to: group.routes { ChunkTranscriptRoutes(transactions: $0.runtime.transactions) })
        TransactionDetailsRoutes.add(
            to: group.routes { world in
                TransactionDetailsRoutes(
                    runtime: world.runtime, links: DocumentLinks(world: world, origin: origin),
                    uploadLinks: uploadPaths.map { UploadLinks(world, $0, origin: origin) })
            })
        DocumentRoutes.add(
            to: group.routes { DocumentRoutes(runtime: $0.runtime, links: DocumentLinks(world: $0, origin: origin)) })
        ConversionRoutes.add(
            to: group.routes { world in
                ConversionRoutes(
                    transactions: world.runtime.transactions, unknown: world.part { _ in UnknownOptionLog() })
            })
        ResultRoutes.add(
            to: group.routes { world in
                ResultRoutes(
                    runtime: world.runtime, longPoll: settings.longPoll,
                    answers: world.part { FinishedResponseCache(signals: $0.runtime.signals) }, profiles: profiles)
            })
    }
}
