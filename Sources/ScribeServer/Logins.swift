import Foundation
import Omi
import ScribeDomain
import ScribeHTTP
import ScribeStore
import Suki

/// The clients and partners that the configuration names.
struct Logins: Sendable {
    /// Whether the clients file itself lists a client.
    let listsClients: Bool
    private let demo: [Seed.Login]
    private let known: [Seed.Login]
    private let partnersListed: [PartnerEntry]

    init(_ configuration: Configuration) throws {
        let seeded = try Seed.demoClients()
        let listed = try configuration.clientsFile.map(Seed.clients(inFile:)) ?? Seed.Logins()
        listsClients = !listed.clients.isEmpty
        demo = seeded.clients
        known = (configuration.seedsDemo ? seeded.clients : []) + listed.clients
        partnersListed = (configuration.seedsDemo ? seeded.partners : []) + listed.partners
        for partner in partnersListed.map(\.partner)
        where !known.contains(where: { $0.client.principal.client == partner.client }) {
            throw StartupProblem.unreadableSeed(
                path: configuration.clientsFile ?? "seed/clients.yaml",
                reason: "the partner '\(partner.id)' names no client that is known")
        }
        try requireOneWebhookEach(configuration.clientsFile ?? "seed/clients.yaml")
        if let client = configuration.omi.client, !known.contains(where: { $0.client.principal.client == client }) {
            throw StartupProblem.unusableSetting(
                OmiContribution.unusable("firebase-client: there is no client '\(client.rawValue)' that may log in"))
        }
    }

    /// Of each session one partner is told: that of its client.
    private func requireOneWebhookEach(_ path: String) throws {
        let told = partnersListed.filter { $0.webhook != nil }.map(\.partner.client)
        guard Set(told).count == told.count else {
            throw StartupProblem.unreadableSeed(
                path: path,
                reason: "two partners of one client_id cannot both have a webhook: give each a client of its own")
        }
    }

    /// Those whose clinicians log in; of the same id the one that was listed.
    var partners: [Partner] { partnersListed.map(\.partner) }

    /// The tenant of requests without a token of ours.
    func demoPrincipal() throws -> Principal {
        guard let first = demo.first else {
            throw StartupProblem.unreadableSeed(path: "seed/clients.yaml", reason: "has no clients")
        }
        return first.client.principal
    }

    /// Makes exactly these known, in the store and then to whoever asks.
    func register(in store: Store, _ secrets: ClientSecrets, as clients: KnownClients) async throws {
        let hashed = known.map { ($0.client, secrets.hash(of: $0.secret, of: $0.client.principal.client)) }
        try await store.register(hashed)
        let registrations = hashed.map { client, hash in
            (client.principal.client, KnownClients.Registration(principal: client.principal, secretHash: hash))
        }
        clients.replace(
            Dictionary(registrations, uniquingKeysWith: { _, last in last }),
            keys: Dictionary(
                known.flatMap { login in login.keys.map { ($0, login.client.principal) } },
                uniquingKeysWith: { first, _ in first }))
    }

    /// Makes exactly these partners known in a world.
    func register(partnersIn world: World) { world.part { _ in KnownPartners([]) }.replace(partners) }

    /// How many clients may log in.
    var count: Int { known.count }

    /// Makes exactly these partners told of what becomes of their clinicians' sessions.
    /// - Parameter pauses: between one attempt and the next, for those that want several.
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
        try await store.configure(.suki, wanted, at: now)
    }
}
