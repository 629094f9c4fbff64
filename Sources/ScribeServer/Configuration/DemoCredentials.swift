import ScribeDomain

/// Credentials of the first demo client, for the banner and for `env`.
package struct DemoCredentials: Sendable {
    package let clientID: String
    package let clientSecret: String
    /// The key for APIs without a login.
    package let apiKey: String
    /// A second key of 40 hex digits, for SDKs that check the form.
    package let hexKey: String

    /// Reads the credentials from the demo seed.
    /// - Throws: ``StartupProblem`` if the seed has no clients.
    package static func first() throws -> DemoCredentials {
        guard let demo = try Seed.demoClients().clients.first else {
            throw StartupProblem.unreadableSeed(path: "seed/clients.yaml", reason: "has no clients")
        }
        return DemoCredentials(
            clientID: demo.client.principal.client.rawValue, clientSecret: demo.secret,
            apiKey: demo.keys.first ?? "", hexKey: demo.keys.last ?? "")
    }

    /// The credentials, or nil for a server whose demo clients may not log in.
    package static func shown(for configuration: Configuration) -> DemoCredentials? {
        configuration.seedsDemo ? try? first() : nil
    }
}
