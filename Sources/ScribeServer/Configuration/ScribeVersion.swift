import BuildDetails

/// The version of this program.
package enum ScribeVersion {
    /// The version, as in `CHANGELOG.md`.
    package static let current = "0.1.0"

    /// The version with the commit and its date, such as `0.1.0 (a1b2c3d, 2026-11-23)`. The build takes them from
    /// `SCRIBE_BUILD`.
    package static var withBuild: String {
        let build = String(cString: build_details())
        return "\(current) (\(build.isEmpty ? "development build" : build))"
    }

    /// The commit of the build; `unknown` without `SCRIBE_BUILD`.
    package static var commit: String {
        let build = String(cString: build_details())
        return build.split(separator: ",").first.map(String.init) ?? "unknown"
    }
}
