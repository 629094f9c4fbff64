package import ScribeHTTP

/// Registers the operator API with the console, which acts through it.
package struct ConsoleContribution: FamilyContribution {
    package let name = "Console"
    private let control: any FamilyContribution
    private let settings: ConsoleFamily.Settings

    package init(over control: any FamilyContribution, _ settings: ConsoleFamily.Settings) {
        self.control = control
        self.settings = settings
    }

    /// Builds the operator API and the console.
    /// - Throws: ``UnusableSetting``.
    package func compose(in environment: FamilyEnvironment) async throws -> ComposedFamily {
        let composed = try await control.compose(in: environment)
        let consoles = composed.families.map { ConsoleFamily(environment, control: $0, settings: settings) }
        return ComposedFamily(composed.families + consoles, services: composed.services)
    }
}
