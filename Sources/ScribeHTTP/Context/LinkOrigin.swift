import HTTPTypes
package import Hummingbird

/// The origin of the links that are handed out: upload forms, `upload_url`, sockets, discovery, documents.
package struct LinkOrigin: Sendable {
    private let publicURL: String?
    private let proxies: TrustedProxies
    private let vendorHosts: [String]

    /// - Parameters:
    ///   - publicURL: how clients reach the server, without a slash at its end; nil: as the request did.
    ///   - proxies: those whose `X-Forwarded-Proto` and `X-Forwarded-Host` are believed.
    ///   - vendorHosts: what ends the hosts under which everything is one family's, so that no path is a bucket.
    package init(publicURL: String?, proxies: TrustedProxies, vendorHosts: [String] = []) {
        self.vendorHosts = vendorHosts
        self.publicURL = publicURL
        self.proxies = proxies
    }

    /// Such as `https://scribe.example`, without a slash at its end.
    package func base(of request: Request, _ context: ScribeContext) -> String {
        publicURL ?? requested(by: request, context)
    }

    /// Where a form for a bucket goes. Whoever has reached the server by a vendor's host reaches it by AWS's too, on the same
    /// port, and gets what the vendor sends (C-60); anyone else gets what is sure to lead back here.
    package func bucketURL(_ bucket: String, for request: Request, _ context: ScribeContext) -> String {
        let base = base(of: request, context)
        guard let origin = WebOrigin(base), vendorHosts.contains(where: origin.host.hasSuffix) else {
            return "\(base)/\(bucket)/"
        }
        // By the usual port the vendor's is https, whatever a proxy in between has made of that.
        let usual: Set = [80, 443]
        let place = usual.contains(origin.port) ? "" : ":\(origin.port)"
        let scheme = place.isEmpty ? WebOrigin.Scheme.https : origin.scheme
        return "\(scheme.rawValue)://\(bucket).s3.amazonaws.com\(place)/"
    }

    /// Whether pages of an origin are the server's own, under the host that was asked or under the public one.
    package func isOwn(_ origin: String, of request: Request, _ context: ScribeContext) -> Bool {
        guard let origin = WebOrigin(origin) else { return false }
        return origin == WebOrigin(requested(by: request, context))
            || publicURL.map { origin == WebOrigin($0) } ?? false
    }

    private func requested(by request: Request, _ context: ScribeContext) -> String {
        let own = request.head.scheme == "https" ? "https" : "http"
        guard proxies.contain(context.address) else { return "\(own)://\(request.authority)" }
        let scheme = request.headers[.forwardedProto].map { $0.lowercased() == "https" ? "https" : "http" } ?? own
        let host = request.headers[.forwardedHost].flatMap(Self.host)
        return "\(scheme)://\(host ?? request.authority)"
    }

    /// The same for sockets.
    package func socketBase(of request: Request, _ context: ScribeContext) -> String {
        let base = base(of: request, context)
        return base.hasPrefix("https:") ? "wss" + base.dropFirst(5) : "ws" + base.dropFirst(4)
    }

    /// A host and perhaps a port, as a proxy passes it on.
    private static func host(_ text: String) -> String? {
        let isHost =
            (1...255).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                byte > 0x20 && byte < 0x7F && !"/\\@?#,\"<>".utf8.contains(byte)
            }
        return isHost ? text : nil
    }
}
