import HTTPTypes
package import Hummingbird

/// Builds base URLs of links in responses: upload forms, `upload_url`, sockets, discovery, documents.
package struct LinkOrigin: Sendable {
    private let publicURL: String?
    private let proxies: TrustedProxies
    private let vendorHosts: [String]

    /// - Parameters:
    ///   - publicURL: The server's URL for clients, without a trailing slash; nil to use the request's.
    ///   - proxies: Proxies whose `X-Forwarded-Proto` and `X-Forwarded-Host` are trusted.
    ///   - vendorHosts: Host suffixes of vendors' APIs. For such a host, upload forms use AWS's host name, because no
    ///     path of that host names a bucket.
    package init(publicURL: String?, proxies: TrustedProxies, vendorHosts: [String] = []) {
        self.vendorHosts = vendorHosts
        self.publicURL = publicURL
        self.proxies = proxies
    }

    /// Base URL such as `https://scribe.example`, without a trailing slash. It ends with the namespace's path prefix if
    /// the request had one.
    package func base(of request: Request, _ context: ScribeContext) -> String {
        server(of: request, context) + context.linkPath
    }

    private func server(of request: Request, _ context: ScribeContext) -> String {
        publicURL ?? requested(by: request, context)
    }

    /// URL of an upload form's bucket.
    ///
    /// A client that reached the server by a vendor's host also reaches AWS's hosts here, on the same port. That client
    /// gets the vendor's URL (C-60). Any other client gets a URL on this server.
    package func bucketURL(_ bucket: String, for request: Request, _ context: ScribeContext) -> String {
        let server = server(of: request, context)
        guard let origin = WebOrigin(server), vendorHosts.contains(where: origin.host.hasSuffix) else {
            return "\(server)\(context.linkPath)/\(bucket)/"
        }
        // On a usual port the vendor's URL is https, whatever scheme a proxy has used.
        let usual: Set = [80, 443]
        let place = usual.contains(origin.port) ? "" : ":\(origin.port)"
        let scheme = place.isEmpty ? WebOrigin.Scheme.https : origin.scheme
        return "\(scheme.rawValue)://\(bucket).s3.amazonaws.com\(place)\(context.linkPath)/"
    }

    /// Whether an origin is the server's own: of the requested host, or of the public URL.
    package func isOwn(_ origin: String, of request: Request, _ context: ScribeContext) -> Bool {
        guard let origin = WebOrigin(origin) else { return false }
        return origin == WebOrigin(requested(by: request, context))
            || publicURL.map { origin == WebOrigin($0) } ?? false
    }

    private func requested(by request: Request, _ context: ScribeContext) -> String {
        let own = request.head.scheme == "https" ? "https" : "http"
        let scheme =
            proxies.forwarded(.forwardedProto, of: request, context)
            .map { $0.lowercased() == "https" ? "https" : "http" } ?? own
        let host = proxies.forwarded(.forwardedHost, of: request, context).flatMap(Self.host)
        return "\(scheme)://\(host ?? request.authority)"
    }

    /// Base URL of sockets: `wss` or `ws`.
    package func socketBase(of request: Request, _ context: ScribeContext) -> String {
        let base = base(of: request, context)
        return base.hasPrefix("https:") ? "wss" + base.dropFirst(5) : "ws" + base.dropFirst(4)
    }

    /// Validates a host with an optional port from a proxy's header.
    private static func host(_ text: String) -> String? {
        let isHost =
            (1...255).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                byte > 0x20 && byte < 0x7F && !"/\\@?#,\"<>".utf8.contains(byte)
            }
        return isHost ? text : nil
    }
}
