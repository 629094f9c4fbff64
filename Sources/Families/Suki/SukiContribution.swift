package import ScribeDomain
package import ScribeHTTP
package import ScribeRuntime

/// Registers Suki's ambient API with a server: host names, recording policy, webhook format and routes.
package struct SukiContribution: FamilyContribution {
    package let name = "Suki"
    /// File name of the key that signs clinicians' tokens.
    static let keyFile = "suki-signing-key.pem"

    package let hosts = [HostGroup(title: "Suki", names: SukiFamily.hostNames)]
    package let policies: [any RecordingPolicy]
    package let webhookFormats: [any WebhookFormat] = [SukiFormat()]
    package let secrets = [keyFile]
    private let settings: SukiFamily.Settings
    private let counts: SocketCounts.Limits

    /// - Parameter counts: Limits on simultaneous audio sockets.
    package init(_ settings: SukiFamily.Settings, counts: SocketCounts.Limits) {
        self.settings = settings
        self.counts = counts
        policies = [AmbientPolicy(lifetime: settings.lifetime / .seconds(1))]
    }

    package func compose(in environment: FamilyEnvironment) -> ComposedFamily {
        ComposedFamily(SukiFamily(environment, counts: counts, settings: settings))
    }
}
