import HTTPTypes
package import Hummingbird

/// The origin of the links that are handed out: upload forms, `upload_url`, sockets, discovery, documents.
package struct LinkOrigin: Sendable {
    private let publicURL: String?
    private let proxies: TrustedProxies

    /// - Parameters:
    ///   - publicURL: how clients reach the server, without a slash at its end; nil: as the request did.
    ///   - proxies: those whose `X-Forwarded-Proto` and `X-Forwarded-Host` are believed.
    package init(publicURL: String?, proxies: TrustedProxies) {
        self.publicURL = publicURL
        self.proxies = proxies
    }

    /// Such as `https://scribe.example`, without a slash at its end.
    package func base(of request: Request, _ context: ScribeContext) -> String {
        publicURL ?? requested(by: request, context)
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
