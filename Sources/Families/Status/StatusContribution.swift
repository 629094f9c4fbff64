package import ScribeHTTP

/// Registers the server's own routes: health, readiness, metrics and API documents.
package struct StatusContribution: FamilyContribution {
    package let name = "Status"
    private let build: StatusFamily.Build

    package init(build: StatusFamily.Build) { self.build = build }

    package func compose(in environment: FamilyEnvironment) -> ComposedFamily {
        ComposedFamily(StatusFamily(environment: environment, build: build))
    }
}

/// Registers the front page, in front of the S3 family.
package struct FrontPageContribution: FamilyContribution {
    private let objects: any FamilyContribution
    private let settings: FrontPage.Settings

    /// - Parameter objects: The S3 family, which answers if a bucket has the name of a page's path.
    package init(before objects: any FamilyContribution, settings: FrontPage.Settings) {
        self.objects = objects
        self.settings = settings
    }

    package var name: String { objects.name }
    package var hosts: [HostGroup] { objects.hosts }

    /// Builds the front page and the S3 family.
    /// - Throws: ``UnusableSetting``.
    package func compose(in environment: FamilyEnvironment) async throws -> ComposedFamily {
        let composed = try await objects.compose(in: environment)
        let pages = composed.families.map { FrontPage(environment, objects: $0, settings: settings) }
        return ComposedFamily(pages + composed.families, services: composed.services)
    }
}
