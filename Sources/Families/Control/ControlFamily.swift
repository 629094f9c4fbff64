import Documents
package import ScribeHTTP
import ScribeRuntime

/// The operator API (`/__admin`), for operators, tests and the command line's verbs (`openapi/control.yaml`).
package struct ControlFamily: RoutedAPI {
    /// Settings of the operator API.
    package struct Settings: Sendable {
        /// The host that the server listens on; requests may name it.
        package var host: String
        /// The `settings` of `/__admin/info`: version, mode, ports and the like.
        package var about: @Sendable () -> [String: String]

        /// Version of the server.
        package var version: String

        /// The specialty of a clinician of a partner, from the wanted one.
        ///
        /// It throws ``ScribeError/invalidRequest(field:problem:)`` for an unknown partner or specialty.
        package typealias Specialty =
            @Sendable (_ partner: String, _ wanted: String?, World) throws -> String
        package var specialty: Specialty
        /// Operations without a path of their own, such as those of S3.
        package var otherOperations: [String]
        /// Names of the emulated APIs.
        package var families: [String]
        /// Secrets and API keys that a seed may not give to a client, since everybody knows them.
        package var refusedSecrets: Set<String> = []
        /// Whether other servers share the data.
        package var sharesData = false

        package init(
            host: String, about: @escaping @Sendable () -> [String: String],
            version: String, specialty: @escaping Specialty, otherOperations: [String],
            families: [String]
        ) {
            self.host = host
            self.about = about
            self.version = version
            self.specialty = specialty
            self.otherOperations = otherOperations
            self.families = families
        }
    }

    /// The OpenAPI document, `openapi/control.yaml`, as bytes.
    package static var openAPI: [UInt8] { document_control().bytes }
    /// First path component of every operator route.
    package static let root = "__admin"

    package let name = "Control"
    package let reservedPaths: [[Substring]] = [[Substring(ControlFamily.root)]]

    let environment: FamilyEnvironment
    let settings: Settings

    package func namespaceUse(of path: [Substring]) -> NamespaceUse { .control }

    package let errors: any ErrorTable = ControlErrors()

    package func addRoutes(to routes: RouteGroup) {
        let authentication = OperatorAuthentication(
            host: settings.host, token: environment.adminToken,
            proxies: environment.proxies, throttle: environment.operatorLogins)
        let group = routes.group(
            at: Self.root,
            access: .checked { [sharesData = settings.sharesData] request, context in
                try await authentication.admit(request, context)
                if sharesData { try SharedDataRule.check(request) }
            })
        InfoRoutes.add(to: group.routes { [about = settings.about] in InfoRoutes(runtime: $0.runtime, about: about) })
        NamespaceRoutes.add(to: group.routes { [origin = environment.origin] _ in NamespaceRoutes(origin: origin) })
        ClockRoutes.add(to: group.routes { ClockRoutes(world: $0) })
        SeedRoutes.add(
            to: group.routes { [settings] in
                SeedRoutes(world: $0, specialty: settings.specialty, refusedSecrets: settings.refusedSecrets)
            })
        FaultRoutes.add(
            to: group.routes { [others = settings.otherOperations] in
                FaultRoutes(world: $0, otherOperations: others)
            })
        FixtureRoutes.add(to: group.routes { FixtureRoutes(fixtures: $0.runtime.fixtureBehaviour) })
        TransactionControlRoutes.add(to: group.routes { TransactionControlRoutes(runtime: $0.runtime) })
        ObjectRoutes.add(
            to: group.routes { ObjectRoutes(uploads: $0.runtime.uploads, store: $0.runtime.store) })
        let events = JournalEvents()
        JournalRoutes.add(
            to: group.routes { [settings] in
                JournalRoutes(
                    world: $0, otherOperations: settings.otherOperations,
                    families: settings.families, events: events, version: settings.version)
            })
        LintRoutes.add(to: group.routes { LintRoutes(runtime: $0.runtime) })
        PlaybackRoutes.add(
            to: group.routes { PlaybackRoutes(world: $0) })
        SocketRoutes.add(to: group.routes { SocketRoutes(world: $0) })
        SnapshotRoutes.add(to: group.routes { _ in SnapshotRoutes() })
        WebhookControlRoutes.add(
            to: group.routes { WebhookControlRoutes(webhooks: $0.runtime.webhooks, store: $0.runtime.store) })
        DeliveryControlRoutes.add(
            to: group.routes {
                DeliveryControlRoutes(webhooks: $0.runtime.webhooks, store: $0.runtime.store, clock: $0.runtime.clock)
            })
    }
}
