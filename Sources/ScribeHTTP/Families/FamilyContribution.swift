package import Engines
package import Logging
package import ScribeDomain
package import ScribeRuntime
package import ServiceLifecycle

/// What a family brings to a server. The server is a list of these; nothing else of it knows which families there are.
package protocol FamilyContribution: Sendable {
    /// The hosts that its clients have compiled in.
    var hosts: [HostGroup] { get }
    /// What shared code must know of the kinds of recordings that it starts.
    var policies: [any RecordingPolicy] { get }
    /// The styles of the webhooks that it registers.
    var webhookFormats: [any WebhookFormat] { get }
    /// The names of its key files in the data folder. They are never changed: folders of earlier versions have them.
    var secrets: [String] { get }

    /// What looks at uploads once they are kept.
    func uploadWatchers(_ consultations: Consultations) -> [any UploadWatcher]

    /// Makes its routes and sockets, and what runs beside them.
    /// - Throws: ``UnusableSetting``.
    func compose(in environment: FamilyEnvironment) async throws -> ComposedFamily
}

extension FamilyContribution {
    package var hosts: [HostGroup] { [] }
    package var policies: [any RecordingPolicy] { [] }
    package var webhookFormats: [any WebhookFormat] { [] }
    package var secrets: [String] { [] }
    package func uploadWatchers(_ consultations: Consultations) -> [any UploadWatcher] { [] }
}

/// Hosts of one vendor.
package struct HostGroup: Hashable, Sendable {
    /// Who looks for them.
    package let title: String
    package let names: [String]
    /// Whether everything that comes by these names, or by names that end so, is the family's, so that no path is a
    /// bucket.
    package let areOwn: Bool

    package init(title: String, names: [String], areOwn: Bool = true) {
        self.title = title
        self.names = names
        self.areOwn = areOwn
    }
}

/// A family as it is served.
package struct ComposedFamily: Sendable {
    /// In the order in which they are asked whose a request is.
    package let families: [any Family]
    /// What runs as long as the server does.
    package let services: [any Service]

    package init(_ families: [any Family], services: [any Service] = []) {
        self.families = families
        self.services = services
    }

    package init(_ api: some RoutedAPI, services: [any Service] = []) {
        self.init([RoutedFamily(api)], services: services)
    }
}

/// A setting of a family that cannot be used.
package struct UnusableSetting: Error, Hashable, CustomStringConvertible {
    /// What is wrong, and with which setting.
    package let description: String

    package init(_ description: String) { self.description = description }
}

/// What a server gives each family.
package struct FamilyEnvironment: Sendable {
    /// Keeps a secret in the data folder, by the name of its file: what is there, or what is made now.
    package typealias SecretFiles =
        @Sendable (_ name: String, _ fresh: @escaping @Sendable () throws -> [UInt8]) async throws -> [UInt8]

    package let runtime: Runtime
    /// Recognises live speech.
    package let engine: any LiveEngine
    package let authenticator: Authenticator
    package let credentials: UploadCredentials
    /// Hashes what clients log in with.
    package let secrets: ClientSecrets
    /// For links that are credentials themselves.
    package let tickets: Tickets
    /// Of the links that are handed out.
    package let origin: LinkOrigin
    /// Those that may use cookies.
    package let pages: PageOrigins
    package let proxies: TrustedProxies
    /// For what is held for clients.
    package let memory: MemoryBudget
    package let secretFiles: SecretFiles
    package let logger: Logger

    package init(
        runtime: Runtime, engine: any LiveEngine, authenticator: Authenticator, credentials: UploadCredentials,
        secrets: ClientSecrets, tickets: Tickets, origin: LinkOrigin, pages: PageOrigins, proxies: TrustedProxies,
        memory: MemoryBudget, secretFiles: @escaping SecretFiles, logger: Logger
    ) {
        self.runtime = runtime
        self.engine = engine
        self.authenticator = authenticator
        self.credentials = credentials
        self.secrets = secrets
        self.tickets = tickets
        self.origin = origin
        self.pages = pages
        self.proxies = proxies
        self.memory = memory
        self.secretFiles = secretFiles
        self.logger = logger
    }
}
