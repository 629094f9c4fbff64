package import ScribeHTTP

/// Registers the operator API with a server.
package struct ControlContribution: FamilyContribution {
    package let name = "Control"
    private let settings: ControlFamily.Settings

    package init(_ settings: ControlFamily.Settings) { self.settings = settings }

    package func compose(in environment: FamilyEnvironment) -> ComposedFamily {
        ComposedFamily(ControlFamily(environment: environment, settings: settings))
    }
}
