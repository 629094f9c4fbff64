package import ScribeDomain
package import ScribeHTTP
package import ScribeRuntime

/// Registers the session protocol with a server: recording policy, webhook format and routes.
package struct AllianceContribution: FamilyContribution {
    package let name = "Alliance"
    package let policies: [any RecordingPolicy]
    package let webhookFormats: [any WebhookFormat] = [AllianceWebhookFormat()]
    package let uploadPaths: UploadPaths? = AllianceFamily.uploadPaths
    private let settings: AllianceFamily.Settings
    private let counts: SocketCounts.Limits

    /// - Parameter counts: Limits on simultaneous audio sockets.
    package init(_ settings: AllianceFamily.Settings, counts: SocketCounts.Limits) {
        self.settings = settings
        self.counts = counts
        policies = [SessionPolicy(lifetime: settings.lifetime / .seconds(1), isStrict: settings.isStrict)]
    }

    package func compose(in environment: FamilyEnvironment) -> ComposedFamily {
        ComposedFamily(AllianceFamily(environment: environment, counts: counts, settings: settings))
    }
}
