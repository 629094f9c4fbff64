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

    /// Makes its routes and sockets, once for all worlds, and says what runs beside them.
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
    package let servesAllPaths: Bool

    package init(title: String, names: [String], servesAllPaths: Bool = true) {
        self.title = title
        self.names = names
        self.servesAllPaths = servesAllPaths
    }
}

/// A family as it is served.
package struct ComposedFamily: Sendable {
    /// In the order in which they are asked whose a request is.
    package let families: [any Family]
    /// What runs for a world, for as long as it is there.
    package let services: @Sendable (World) -> [any Service]

    package init(_ families: [any Family], services: @escaping @Sendable (World) -> [any Service] = { _ in [] }) {
        self.families = families
        self.services = services
    }

    package init(_ api: some RoutedAPI, services: @escaping @Sendable (World) -> [any Service] = { _ in [] }) {
        self.init([RoutedFamily(api)], services: services)
    }
}

/// A setting of a family that cannot be used.
package struct UnusableSetting: Error, Hashable, CustomStringConvertible {
    /// What is wrong, and with which setting.
    package let description: String

    package init(_ description: String) { self.description = description }
}

/// What a process has once, and each family may use. What belongs to one namespace is a ``World``'s.
package struct FamilyEnvironment: Sendable {
    /// Recognises live speech.
    package let engine: any LiveEngine
    package let mode: AuthMode
    /// Of the links that are handed out.
    package let origin: LinkOrigin
    /// Those that may use cookies.
    package let pages: PageOrigins
    package let proxies: TrustedProxies
    /// For what is held for clients.
    package let memory: MemoryBudget
    package let outbound: OutboundClient
    package let clock: WallClock
    package let logger: Logger

    package init(
        engine: any LiveEngine, mode: AuthMode, origin: LinkOrigin, pages: PageOrigins, proxies: TrustedProxies,
        memory: MemoryBudget, outbound: OutboundClient, clock: WallClock, logger: Logger
    ) {
        self.engine = engine
        self.mode = mode
        self.origin = origin
        self.pages = pages
        self.proxies = proxies
        self.memory = memory
        self.outbound = outbound
        self.clock = clock
        self.logger = logger
    }
}
