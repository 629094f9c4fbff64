import ScribeDomain

/// The first client of the demo seed, for banners and for those who start a client against this server.
package struct DemoCredentials: Sendable {
    package let clientID: String
    package let clientSecret: String
    /// For APIs that know no login.
    package let apiKey: String

    /// - Throws: ``StartupProblem`` when the shipped seed cannot be read.
    package static func first() throws -> DemoCredentials {
        guard let demo = try Seed.demoClients().clients.first else {
            throw StartupProblem.unreadableSeed(path: "seed/clients.yaml", reason: "has no clients")
        }
        return DemoCredentials(
            clientID: demo.client.principal.client.rawValue, clientSecret: demo.secret,
            apiKey: demo.keys.first ?? "")
    }

    /// The same, or nil for a server that does not let demo clients in.
    package static func shown(for configuration: Configuration) -> DemoCredentials? {
        configuration.seedsDemo ? try? first() : nil
    }
}
