/// Origins of web pages that may use the server.
package enum AllowedOrigins: Hashable, Sendable {
    case any
    /// Pages of this machine and of the families' own hosts, where web SDKs run.
    ///
    /// Without strict authentication no other page of the internet may read data.
    /// - Parameter apps: Origins of apps with their own schemes.
    case trusted(hostSuffixes: [String], apps: Set<String> = [])
    case listed(Set<String>)

    package func contains(_ origin: String) -> Bool {
        switch self {
        case .any: true
        case .trusted: Self.isOfThisMachine(origin) || mayLogIn(origin)
        case .listed(let origins): origins.contains(origin.lowercased())
        }
    }

    /// Whether pages of an origin may obtain a login: named origins and the vendor's own.
    ///
    /// Another port of this machine may belong to any program.
    package func mayLogIn(_ origin: String) -> Bool {
        switch self {
        case .any: false
        case .trusted(let suffixes, let apps):
            apps.contains(origin)
                || WebOrigin(origin).map { $0.scheme == .https && suffixes.contains(where: $0.host.hasSuffix) } ?? false
        case .listed(let origins): origins.contains(origin.lowercased())
        }
    }

    private static func isOfThisMachine(_ text: String) -> Bool {
        guard let origin = WebOrigin(text) else { return false }
        if origin.isAddress { return origin.host == "::1" || origin.host.hasPrefix("127.") }
        return origin.host == "localhost" || origin.host.hasSuffix(".localhost")
    }
}
