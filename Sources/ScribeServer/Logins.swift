import Logging
import ScribeDomain
import ScribeHTTP
import ScribeStore

/// The demo clients, and all that may log in.
struct Logins: Sendable {
    private let demo: [Seed.Login]
    private let known: [Seed.Login]

    init(_ configuration: Configuration) throws {
        demo = try Seed.demoClients()
        let listed = try configuration.clientsFile.map(Seed.clients(inFile:)) ?? []
        known = (configuration.seedsDemo ? demo : []) + listed
    }

    /// Makes exactly these known.
    func register(in store: Store, _ secrets: ClientSecrets, _ logger: Logger) async throws -> KnownClients {
        let hashed = known.map { ($0.client, secrets.hash(of: $0.secret, of: $0.client.principal.client)) }
        try await store.register(hashed)
        if known.isEmpty {
            logger.warning("no client can log in: name a YAML file with --clients, or ask for --demo-seed")
        }
        guard let first = demo.first else {
            throw StartupProblem.unreadableSeed(path: "seed/clients.yaml", reason: "has no clients")
        }
        let registrations = hashed.map { client, hash in
            (client.principal.client, KnownClients.Registration(principal: client.principal, secretHash: hash))
        }
        return KnownClients(
            registrations: Dictionary(registrations, uniquingKeysWith: { _, last in last }),
            demoPrincipal: first.client.principal,
            keys: Dictionary(
                known.flatMap { login in login.keys.map { ($0, login.client.principal) } },
                uniquingKeysWith: { first, _ in first }))
    }
}
