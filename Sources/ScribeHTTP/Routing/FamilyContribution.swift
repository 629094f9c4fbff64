package import Basics
package import Engines
package import Logging
package import Outbound
package import ScribeDomain
package import ScribeRuntime
package import ServiceLifecycle

/// One family's part of a server. The server is a list of contributions, and names no family elsewhere.
///
/// `Composition` in `ScribeServer` has the list, and makes it anew for each question about hosts or key files. So an
/// initialiser does no work, and each property is constant and quick. All requirements but ``name`` and
/// ``compose(in:)`` have a default: none.
package protocol FamilyContribution: Sendable {
    /// Name of the family in the documentation and in the journal, such as `S3`. No two families share a name.
    var name: String { get }
    /// Host names compiled into the family's SDKs, in lower case and without a port: for the hosts file and the
    /// certificate.
    var hosts: [HostGroup] { get }
    /// Recording policies for the kinds of recordings that the family starts, one for each kind.
    var policies: [any RecordingPolicy] { get }
    /// Formats of the webhooks that the family registers. A stored registration names its format.
    var webhookFormats: [any WebhookFormat] { get }
    /// Names of the family's key files in the data folder. They never change: data folders and backups contain them.
    var secrets: [String] { get }
    /// Paths at which the family takes the audio of any recording; nil for a family that takes none there.
    var uploadPaths: UploadPaths? { get }

    /// Watchers that are called after an upload is stored, on the task of the upload.
    ///
    /// Called once for each world, before it takes requests.
    /// - Parameter transactions: the use cases of the world.
    func uploadWatchers(_ transactions: Transactions) -> [any UploadObserver]

    /// Builds the family's routes and sockets, once for all worlds, and its services per world.
    ///
    /// Called once at the start of a server, before a port is open. Handlers take what belongs to a namespace from the
    /// world of their request, and never from here. They run on the event loop of their connection, and many at once.
    /// - Parameter environment: the objects of the process.
    /// - Returns: the families, whose claims on a request decide who answers it, and their services.
    /// - Throws: ``UnusableSetting``, which ends the start with its text; the error of a file that cannot be read.
    func compose(in environment: FamilyEnvironment) async throws -> ComposedFamily
}

extension FamilyContribution {
    package var hosts: [HostGroup] { [] }
    package var policies: [any RecordingPolicy] { [] }
    package var webhookFormats: [any WebhookFormat] { [] }
    package var secrets: [String] { [] }
    package var uploadPaths: UploadPaths? { nil }
    package func uploadWatchers(_ transactions: Transactions) -> [any UploadObserver] { [] }
}

/// Host names of one vendor.
package struct HostGroup: Hashable, Sendable {
    /// Title of the group, for people who configure hosts.
    package let title: String
    package let names: [String]
    /// Whether these hosts and their subdomains belong to the family wholly, so that their paths name no buckets.
    package let servesAllPaths: Bool

    package init(title: String, names: [String], servesAllPaths: Bool = true) {
        self.title = title
        self.names = names
        self.servesAllPaths = servesAllPaths
    }
}

/// Families and services that a contribution builds.
package struct ComposedFamily: Sendable {
    /// Families in the order in which they are asked for a claim.
    package let families: [any Family]
    /// Background services of a world, which run as long as the world exists. Called once for each world. A service
    /// ends when its task shuts down gracefully, or is cancelled.
    package let services: @Sendable (World) -> [any Service]

    package init(_ families: [any Family], services: @escaping @Sendable (World) -> [any Service] = { _ in [] }) {
        self.families = families
        self.services = services
    }

    package init(_ api: some RoutedAPI, services: @escaping @Sendable (World) -> [any Service] = { _ in [] }) {
        self.init([RoutedFamily(api)], services: services)
    }
}

/// A family's setting is invalid.
package struct UnusableSetting: Error, Hashable, CustomStringConvertible {
    /// The problem, with the name of the setting.
    package let description: String

    package init(_ description: String) { self.description = description }
}

/// Values that exist once per process, and that every family may use. Values of one namespace are in ``World``.
package struct FamilyEnvironment: Sendable {
    /// Engine for live speech.
    package let engine: any LiveEngine
    package let mode: AuthMode
    /// Origin of issued links.
    package let origin: LinkOrigin
    /// Page origins that may use cookies.
    package let pages: PageOrigins
    package let proxies: TrustedProxies
    /// Budget for bytes held for clients.
    package let memory: MemoryBudget
    /// Limits on open sockets, of each family by itself.
    package let sockets: SocketCounts.Limits
    package let outbound: OutboundClient
    /// Limits guesses of the operators' token, wherever it is sent.
    package let operatorLogins: LoginThrottle
    /// Token of the operator API; nil if the API requires none.
    package let adminToken: String?
    /// Paths at which recordings' audio is uploaded; nil if no family takes it.
    package let uploadPaths: UploadPaths?
    /// Certificate authority that clients must trust, as PEM; nil without one.
    package let authority: String?
    package let clock: WallClock
    package let logger: Logger

    package init(
        engine: any LiveEngine, mode: AuthMode, origin: LinkOrigin, pages: PageOrigins, proxies: TrustedProxies,
        memory: MemoryBudget, sockets: SocketCounts.Limits, outbound: OutboundClient, operatorLogins: LoginThrottle,
        adminToken: String?, authority: String?, uploadPaths: UploadPaths?, clock: WallClock, logger: Logger
    ) {
        self.engine = engine
        self.mode = mode
        self.origin = origin
        self.pages = pages
        self.proxies = proxies
        self.memory = memory
        self.sockets = sockets
        self.outbound = outbound
        self.operatorLogins = operatorLogins
        self.adminToken = adminToken
        self.authority = authority
        self.uploadPaths = uploadPaths
        self.clock = clock
        self.logger = logger
    }
}
