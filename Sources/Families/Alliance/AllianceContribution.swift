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

    package init(_ settings: AllianceFamily.Settings) {
        self.settings = settings
        policies = [SessionPolicy(lifetime: settings.lifetime / .seconds(1), isStrict: settings.isStrict)]
    }

    package func compose(in environment: FamilyEnvironment) -> ComposedFamily {
        ComposedFamily(AllianceFamily(environment: environment, settings: settings))
    }
}
