import Certificates
import Eka
import ScribeHTTP

/// Limits for web pages: their origins, and the hosts of requests.
extension Configuration {
    /// The origins of web pages that may call the server.
    var webOrigins: AllowedOrigins {
        if let list = allowedOrigins {
            return list.contains("*") ? .any : .listed(list.compactMap(OriginPattern.init))
        }
        return authMode == .strict ? .listed([]) : .trusted(hostSuffixes: EkaFamily.hostSuffixes, apps: EkaFamily.apps)
    }

    /// The hosts that the server answers for. Nil means all of them: with `*`, and in strict mode, where every request
    /// needs a token of this server.
    var hosts: AllowedHosts? {
        guard authMode != .strict, !allowedHosts.contains("*") else { return nil }
        let own = HostNames.certificateNames(and: tls.names).map(\.description)
        let publicHost = publicURL.flatMap(WebOrigin.init)?.host
        let vendors = EkaFamily.hostSuffixes.map { "*\($0)" }
        return AllowedHosts(own + vendors + [host] + [publicHost].compactMap(\.self) + allowedHosts)
    }
}
