package import ScribeRuntime

extension TemplateCatalogue {
    /// The templates that every server knows, of `seed/templates.yaml`.
    /// - Throws: ``StartupProblem``.
    package static func shipped() throws -> TemplateCatalogue { try Seed.templates() }
}
