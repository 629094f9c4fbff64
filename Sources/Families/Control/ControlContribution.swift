package import ScribeHTTP

/// What the door for operators brings to a server.
package struct ControlContribution: FamilyContribution {
    private let settings: ControlFamily.Settings

    package init(_ settings: ControlFamily.Settings) { self.settings = settings }

    package func compose(in environment: FamilyEnvironment) -> ComposedFamily {
        ComposedFamily(ControlFamily(environment, settings: settings))
    }
}
