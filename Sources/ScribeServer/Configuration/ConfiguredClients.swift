import Foundation
import Logging
import Omi
import ScribeDomain
import ScribeHTTP
import ScribeStore
import Suki

/// Clients, partners and their webhooks from the demo seed and the clients file.
struct ConfiguredClients: Sendable {
    /// Whether the clients file itself lists a client.
    let listsClients: Bool
    /// The clients file, for errors.
    private let path: String
    private let demo: [Seed.ClientWithSecrets]
    private var known: [Seed.ClientWithSecrets]
    private var partnersListed: [PartnerEntry]
    /// Clients with a secret or key of ``Configuration/publishedSecrets``.
    private let publiclyKnown: [String]

    init(_ configuration: Configuration) throws {
        path = configuration.clientsFile ?? "seed/clients.yaml"
        let seeded = try Seed.demoClients()
        let listed = try configuration.clientsFile.map(Seed.clients(inFile:)) ?? Seed.ClientsFileContent()
        listsClients = !listed.clients.isEmpty
        demo = seeded.clients
        let own = seeded.clients.map { client in
            var client = client
            client.origin = .demo
            return client
        }
        known = (configuration.seedsDemo ? own : []) + listed.clients
        partnersListed = (configuration.seedsDemo ? seeded.partners : []) + listed.partners
        publiclyKnown = known.filter { !configuration.publishedSecrets.isDisjoint(with: $0.keys + [$0.secret]) }
            .map(\.client.principal.client.rawValue)
        if let client = publiclyKnown.first, !configuration.isLoopback {
            throw StartupProblem.unreadableSeed(
                path: path,
                reason: """
                    the client '\(client)' has a secret or API key that is published with the demo, and other machines \
                    can reach \(configuration.host). Choose another, or confirm with --demo-seed
                    """)
        }
        for partner in partnersListed.map(\.partner)
        where !known.contains(where: { $0.client.principal.client == partner.client }) {
            throw StartupProblem.unreadableSeed(
                path: configuration.clientsFile ?? "seed/clients.yaml",
                reason: "the partner '\(partner.id)' has a client_id that no client has")
        }
        try requireOneWebhookEach(configuration.clientsFile ?? "seed/clients.yaml")
        if let client = configuration.omi.client, !known.contains(where: { $0.client.principal.client == client }) {
            throw StartupProblem.unusableSetting(
                OmiContribution.unusable("firebase-client: there is no client '\(client.rawValue)' that may log in"))
        }
    }

    /// Adds the client and the partner of a namespace to a copy.
    func adding(_ own: NamespaceClient) -> ConfiguredClients {
        var all = self
        all.known.append(Seed.ClientWithSecrets(client: own.client, secret: own.secret, keys: [own.key, own.hexKey]))
        all.partnersListed.append(PartnerEntry(own.partner))
        return all
    }

    /// Checks that at most one partner of each client has a webhook: a session notifies one partner only.
    private func requireOneWebhookEach(_ path: String) throws {
        let told = partnersListed.filter { $0.webhook != nil }.map(\.partner.client)
        guard Set(told).count == told.count else {
            throw StartupProblem.unreadableSeed(
                path: path,
                reason: "two partners of one client_id cannot both have a webhook: give each a client of its own")
        }
    }

    /// The partners. If an id is listed twice, the partner of the clients file comes last and wins.
    var partners: [Partner] { partnersListed.map(\.partner) }

    /// The principal of requests without a token of this server.
    func demoPrincipal() throws -> Principal {
        guard let first = demo.first else {
            throw StartupProblem.unreadableSeed(path: "seed/clients.yaml", reason: "has no clients")
        }
        return first.client.principal
    }

    /// Replaces the clients, first in the store, then in the authenticator.
    func register(in store: Store, _ secrets: ClientSecrets, as clients: KnownClients) async throws {
        let hashed = known.map { ($0.client, secrets.hash(of: $0.secret, of: $0.client.principal.client), $0.origin) }
        do {
            try await store.accounts.register(hashed)
        } catch SeedProblem.clientOfOtherOrigin(let id, _) {
            throw StartupProblem.unreadableSeed(
                path: path, reason: "the client_id '\(id)' belongs to a client of POST /__admin/seed; choose another")
        }
        let registrations = hashed.map { client, hash, _ in
            (client.principal.client, KnownClients.Registration(principal: client.principal, secretHash: hash))
        }
        clients.replace(
            Dictionary(registrations, uniquingKeysWith: { _, last in last }),
            keys: Dictionary(
                known.flatMap { login in login.keys.map { ($0, login.client.principal) } },
                uniquingKeysWith: { first, _ in first }))
    }

    /// Replaces the partners of a world.
    func register(partnersIn world: World) { world.part { _ in KnownPartners([]) }.replace(partners) }

    /// Warns about settings of logins that are probably mistakes.
    func warn(_ logger: Logger) {
        if known.isEmpty {
            logger.warning("no client can log in: name a YAML file with --clients, or ask for --demo-seed")
        }
        if !publiclyKnown.isEmpty {
            logger.warning(
                "clients have secrets or API keys that are published with the demo: choose others",
                metadata: ["clients": "\(publiclyKnown.joined(separator: ", "))"])
        }
    }

    /// The number of clients that may log in.
    var count: Int { known.count }

    /// Replaces the webhooks of partners, which are notified of their clinicians' ambient sessions.
    /// - Parameter pauses: The pauses between attempts, for webhooks with several.
    func configureWebhooks(in store: Store, pauses: [Duration], at now: Date) async throws {
        let partners = Dictionary(partnersListed.map { ($0.partner.id, $0) }, uniquingKeysWith: { _, last in last })
        var wanted: [(draft: WebhookDraft, principal: Principal, pauses: [Duration])] = []
        for entry in partners.values.sorted(by: { $0.partner.id < $1.partner.id }) {
            let client = known.last { $0.client.principal.client == entry.partner.client }
            guard let hook = entry.webhook, let client else { continue }
            let draft = WebhookDraft(style: .suki, endpoint: hook.endpoint, signingKey: hook.secret)
            let longest = pauses.last ?? .seconds(10)
            wanted.append(
                (
                    draft, client.client.principal,
                    (0..<(hook.attempts - 1)).map { $0 < pauses.count ? pauses[$0] : longest }
                ))
        }
        try await store.webhooks.configure(.suki, wanted, at: now)
    }
}
