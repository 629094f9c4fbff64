import HTTPTypes
package import Hummingbird

/// Decides which web pages may use a browser's implicit credentials: its cookies, and in open mode its network.
///
/// A browser sends both for any page. `SameSite` alone does not separate pages, because a site covers all ports of a
/// host.
package struct PageOrigins: Sendable {
    private let own: LinkOrigin
    private let allowed: AllowedOrigins

    /// - Parameters:
    ///   - own: Origin of the server itself.
    ///   - allowed: Other origins whose pages are admitted.
    package init(own: LinkOrigin, allowed: AllowedOrigins) {
        self.own = own
        self.allowed = allowed
    }

    /// Whether the request comes from no page, from the server's own page, or from a page of an allowed origin.
    package func admit(_ request: Request, _ context: ScribeContext) -> Bool {
        admit(request, context, allowed.contains)
    }

    /// Requires that a request comes from an admitted page, or from no page.
    /// - Throws: ``HTTPProblem/foreignPage``.
    package func require(_ request: Request, _ context: ScribeContext) throws(HTTPProblem) {
        guard admit(request, context) else { throw .foreignPage }
    }

    /// Requires a page that may obtain a login, see ``AllowedOrigins/mayLogIn(_:)``.
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
        let site = request.headers.value(of: .secFetchSite)?.lowercased()
        if let origin = request.headers.value(of: .origin) {
            // A proxy may have changed the host. `Sec-Fetch-Site` comes from the browser, and no page can change it.
            return isAllowed(origin) || own.isOwn(origin, of: request, context)
                || site == "same-origin" && WebOrigin(origin) != nil
        }
        // Browsers send no `Origin` for navigations and subresources; a GET of these changes nothing.
        guard let site, ["cross-site", "same-site"].contains(site) else { return true }
        return request.method == .get || request.method == .head
    }
}
