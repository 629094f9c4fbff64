package import ScribeRuntime

extension TemplateCatalogue {
    /// Reads the templates of every server from `seed/templates.yaml`, which is compiled in.
    /// - Throws: ``StartupProblem``.
    package static func shipped() throws -> TemplateCatalogue { try Seed.templates() }
}
