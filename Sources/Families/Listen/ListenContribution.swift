package import ScribeHTTP

/// Registers live recognition with a server: host names and routes.
package struct ListenContribution: FamilyContribution {
    package let name = "Listen"
    package let hosts = [HostGroup(title: "live speech (Deepgram, SubQ, Aldea)", names: ListenFamily.hostNames)]
    private let settings: ListenFamily.Settings

    package init(_ settings: ListenFamily.Settings) { self.settings = settings }

    package func compose(in environment: FamilyEnvironment) -> ComposedFamily {
        ComposedFamily(ListenFamily(environment: environment, settings: settings))
    }
}
