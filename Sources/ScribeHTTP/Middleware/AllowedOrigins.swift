/// Which web pages may use the server.
package enum AllowedOrigins: Hashable, Sendable {
    case any
    /// Those that this machine serves, and those of the families' own hosts, on which web SDKs run. Where no token is
    /// needed, or any is taken, no other page of the internet may read what is here.
    /// - Parameter apps: the origins of programs that are no browsers, by schemes of their own.
    case trusted(hostSuffixes: [String], apps: Set<String> = [])
    case listed(Set<String>)

    package func contains(_ origin: String) -> Bool {
        switch self {
        case .any: true
        case .trusted: Self.isOfThisMachine(origin) || mayLogIn(origin)
        case .listed(let origins): origins.contains(origin.lowercased())
        }
    }

    /// Whether pages of an origin may use what gives a login away: those that somebody has named, and the vendor's own.
    /// Another port of this machine may be anybody's.
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
