import Basics

/// Origin of pages and apps, or the origins of all hosts below one: `https://app.example:8443`,
/// `https://*.staging.example`, `capacitor://localhost`.
package struct OriginPattern: Hashable, Sendable {
    private let scheme: String
    private let host: String
    private let port: Int?
    private let isWildcard: Bool

    /// Parses an origin, whose port may be the scheme's own.
    /// - Returns: nil for a text that matches no `Origin` header, whatever its case.
    package init?(_ text: String) {
        let parts = text.split(ascii: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, parts[1].hasPrefix("//") else { return nil }
        scheme = parts[0].lowercased()
        isWildcard = parts[1].hasPrefix("//*.")
        let isScheme = !scheme.isEmpty && scheme.utf8.allSatisfy { $0.isInIdentifier || "+.".utf8.contains($0) }
        guard isScheme, !["file", "ftp", "ws", "wss"].contains(scheme),
            let place = HostAndPort(String(parts[1].dropFirst(isWildcard ? 4 : 2))), place.port != 0,
            place.isAddress ? !isWildcard : !place.host.split(ascii: ".", omittingEmptySubsequences: false).contains("")
        else { return nil }
        host = place.host
        port = place.port ?? ["http": 80, "https": 443][scheme]
    }

    fileprivate func matches(_ origin: OriginPattern) -> Bool {
        scheme == origin.scheme && port == origin.port && !origin.isWildcard
            && (isWildcard ? origin.host.hasSuffix(".\(host)") : origin.host == host)
    }
}

/// Origins of web pages that may use the server.
package enum AllowedOrigins: Hashable, Sendable {
    case any
    /// Pages of this machine and of the families' own hosts, where web SDKs run.
    ///
    /// Without strict authentication no other page of the internet may read data.
    /// - Parameter apps: Origins of apps with their own schemes.
    case trusted(hostSuffixes: [String], apps: Set<String> = [])
    case listed([OriginPattern])

    package func contains(_ origin: String) -> Bool {
        switch self {
        case .any: true
        case .trusted: Self.isOfThisMachine(origin) || mayLogIn(origin)
        case .listed: mayLogIn(origin)
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
        case .listed(let patterns):
            OriginPattern(origin).map { origin in patterns.contains { $0.matches(origin) } } ?? false
        }
    }

    private static func isOfThisMachine(_ text: String) -> Bool {
        guard let origin = WebOrigin(text) else { return false }
        if origin.isAddress { return origin.host == "::1" || origin.host.hasPrefix("127.") }
        return origin.host == "localhost" || origin.host.hasSuffix(".localhost")
    }
}
