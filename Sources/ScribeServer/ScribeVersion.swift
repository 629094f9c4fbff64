import BuildDetails

/// The version of this program.
package enum ScribeVersion {
    /// As `CHANGELOG.md` lists it.
    package static let current = "0.1.0"

    /// With the commit that it was built from and the date of that, where the build was told (`SCRIBE_BUILD`), for example
    /// `0.1.0 (a1b2c3d, 2026-11-23)`.
    package static var withBuild: String {
        let build = String(cString: build_details())
        return "\(current) (\(build.isEmpty ? "development build" : build))"
    }

    /// The commit that it was built from, `unknown` where the build was not told.
    package static var commit: String {
        let build = String(cString: build_details())
        return build.split(separator: ",").first.map(String.init) ?? "unknown"
    }
}
