import HTTPTypes
package import Hummingbird

/// Which web pages may use what the server knows a browser by: its cookies, and in open mode the network that it is on.
///
/// A browser sends both whoever wrote the page. `SameSite` alone does not tell pages apart, because sites know no ports.
package struct PageOrigins: Sendable {
    private let own: LinkOrigin
    private let allowed: AllowedOrigins

    /// - Parameters:
    ///   - own: how clients reach the server.
    ///   - allowed: the other origins whose pages may use it.
    package init(own: LinkOrigin, allowed: AllowedOrigins) {
        self.own = own
        self.allowed = allowed
    }

    /// Whether a request comes from no page, from one of the server's own, or from one that the cross-origin rules let in.
    package func admit(_ request: Request, _ context: ScribeContext) -> Bool {
        admit(request, context, allowed.contains)
    }

    /// - Throws: ``HTTPProblem/foreignPage``.
    package func require(_ request: Request, _ context: ScribeContext) throws(HTTPProblem) {
        guard admit(request, context) else { throw .foreignPage }
    }

    /// The same for what gives a login away, see ``AllowedOrigins/mayLogIn(_:)``.
    /// - Throws: ``HTTPProblem/foreignPage``.
    package func requireLogin(_ request: Request, _ context: ScribeContext) throws(HTTPProblem) {
        guard admitToLogin(request, context) else { throw .foreignPage }
    }

    package func admitToLogin(_ request: Request, _ context: ScribeContext) -> Bool {
        admit(request, context, allowed.mayLogIn)
    }

    private func admit(
        _ request: Request, _ context: ScribeContext, _ isAllowed: (String) -> Bool
    ) -> Bool {
        let site = request.headers[.secFetchSite]?.lowercased()
        if let origin = request.headers[.origin] {
            // A proxy in between may have changed the host. The browser knows better, and no page can change what it says.
            return isAllowed(origin) || own.isOwn(origin, of: request, context)
                || site == "same-origin" && WebOrigin(origin) != nil
        }
        // Browsers leave the origin out of navigations and of what a page loads, which change nothing by GET.
        guard let site, ["cross-site", "same-site"].contains(site) else { return true }
        return request.method == .get || request.method == .head
    }
}
