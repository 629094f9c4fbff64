package import ScribeHTTP

/// What the server brings itself: whether it is there and ready, and what it speaks.
package struct StatusContribution: FamilyContribution {
    private let build: StatusFamily.Build
    private let authority: String?

    /// - Parameter authority: what clients are to trust, as PEM; nil where the certificate is somebody else's, or none.
    package init(build: StatusFamily.Build, authority: String?) {
        self.build = build
        self.authority = authority
    }

    package func compose(in environment: FamilyEnvironment) -> ComposedFamily {
        ComposedFamily(StatusFamily(environment, build: build, authority: authority))
    }
}

/// The page that a browser sees first, in front of the family of S3.
package struct FrontPageContribution: FamilyContribution {
    private let objects: any FamilyContribution
    private let settings: FrontPage.Settings

    /// - Parameter objects: answers for a bucket that has a name of the page's paths.
    package init(before objects: any FamilyContribution, settings: FrontPage.Settings) {
        self.objects = objects
        self.settings = settings
    }

    package var hosts: [HostGroup] { objects.hosts }

    /// - Throws: ``UnusableSetting``.
    package func compose(in environment: FamilyEnvironment) async throws -> ComposedFamily {
        let composed = try await objects.compose(in: environment)
        let pages = composed.families.map { FrontPage(environment, objects: $0, settings: settings) }
        return ComposedFamily(pages + composed.families, services: composed.services)
    }
}
