import Certificates
import Eka
import ScribeHTTP

/// What web pages are kept from.
extension Configuration {
    /// The origins of pages that may use the server.
    var webOrigins: AllowedOrigins {
        if let list = allowedOrigins {
            return list.contains("*") ? .any : .listed(Set(list.map { $0.lowercased() }))
        }
        return authMode == .strict ? .listed([]) : .trusted(hostSuffixes: EkaFamily.hostSuffixes, apps: EkaFamily.apps)
    }

    /// The hosts under which requests are served; nil for all, where a token that was issued here is asked for.
    var hosts: AllowedHosts? {
        guard authMode != .strict, !allowedHosts.contains("*") else { return nil }
        let own = HostNames.certificateNames(and: tls.names).map(\.description)
        let publicHost = publicURL.flatMap(WebOrigin.init)?.host
        let vendors = EkaFamily.hostSuffixes.map { "*\($0)" }
        return AllowedHosts(own + vendors + [host] + [publicHost].compactMap(\.self) + allowedHosts)
    }
}
