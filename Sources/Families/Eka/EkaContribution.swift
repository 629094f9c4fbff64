package import ScribeDomain
package import ScribeHTTP
package import ScribeRuntime

/// Registers the EkaScribe transaction API with a server: host names, webhook format and routes.
package struct EkaContribution: FamilyContribution {
    package let name = "Eka"
    package let hosts = [HostGroup(title: "EkaScribe", names: EkaFamily.hostNames)]
    package let webhookFormats: [any WebhookFormat] = [ConnectFormat()]
    package let policies: [any RecordingPolicy] = [TransactionPolicy()]
    private let settings: EkaFamily.Settings

    package init(_ settings: EkaFamily.Settings) { self.settings = settings }

    package func uploadWatchers(_ transactions: Transactions) -> [any UploadObserver] {
        [ManifestWatcher(transactions: transactions)]
    }

    package func compose(in environment: FamilyEnvironment) -> ComposedFamily {
        ComposedFamily(EkaFamily(environment: environment, settings: settings))
    }
}
