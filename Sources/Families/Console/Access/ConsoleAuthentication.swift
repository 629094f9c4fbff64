import Basics
import Foundation
import HTTPTypes
import Hummingbird
import ScribeHTTP

/// Authenticates every console request.
///
/// A page needs a session that has logged in, unless the server needs no token. Assets and data need the session's
/// cookie and a same-origin request. Logins and actions also need the page's CSRF token.
struct ConsoleAuthentication: Sendable {
    enum RequestKind: Hashable, Sendable {
        /// A page, opened as such or read again by a script of ours.
        case page
        /// A style sheet or a script. The page of the login has them too.
        case asset
        /// Sound, and the event stream.
        case data
        /// The login, by a session that is not open yet.
        case login
        /// A call of the operator API, or a token for the public one.
        case action
    }

    enum Verdict: Sendable {
        case allowed(ConsoleSessions.Session, id: String)
        /// The browser has to show the token. The session is for the page of the login.
        case loginRequired(ConsoleSessions.Session, id: String)
        /// A page of another site linked here, so the browser sent no `SameSite=Strict` cookie. The browser must reload
        /// the page.
        case reload
    }

    /// The host that the server listens on.
    let host: String
    /// The operators' token; nil if the server needs none.
    let token: String?
    let clock: WallClock
    let sessions: ConsoleSessions

    /// Whether a page opens without a login.
    var needsNoLogin: Bool { token == nil }

    /// Decides on a request. Starts a session for a page request without one.
    /// - Throws: ``ConsoleError``.
    func authenticate(
        _ request: Request, for kind: RequestKind, isSecure: Bool, _ random: IdentifierSource
    ) throws(ConsoleError) -> Verdict {
        let origin = OperatorRequest(request)
        guard origin.hasOwnHost(host) else { throw .foreignHost }
        guard token != nil || !origin.isForwarded else { throw .forwarded }
        let known = known(request)
        guard kind == .page else {
            try requireOwnPage(origin, isTrusted: isSecure || Self.isLoopback(request))
            guard let (id, session) = known, session.isOpen || [.asset, .login].contains(kind) else { throw .noSession }
            if kind == .action || kind == .login { try requirePageToken(origin, request, session) }
            return session.isOpen ? .allowed(session, id: id) : .loginRequired(session, id: id)
        }
        guard request.method == .get || request.method == .head else { throw .notFound }
        if !origin.isFromNoOtherPage {
            // A link may lead here; it changes nothing, and no page reads or frames what it opens.
            guard origin.isNavigation else { throw .foreignPage }
            guard known != nil else { return .reload }
        }
        if let (id, session) = known {
            return session.isOpen ? .allowed(session, id: id) : .loginRequired(session, id: id)
        }
        let (id, session) = sessions.begin(isOpen: needsNoLogin, at: clock.now, random)
        return session.isOpen ? .allowed(session, id: id) : .loginRequired(session, id: id)
    }

    private func known(_ request: Request) -> (id: String, session: ConsoleSessions.Session)? {
        guard let id = Cookies(from: request.headers[values: .cookie])[Self.cookieName(of: request)]?.value else {
            return nil
        }
        return sessions.session(id, at: clock.now).map { (id, $0) }
    }

    /// Requires that a console page sent the request, by `Sec-Fetch-Site`.
    ///
    /// Browsers send the header over TLS and to loopback only. Over plain HTTP to other hosts the `SameSite=Strict`
    /// cookie alone protects. A page on another port can send the request, but cannot read the response.
    private func requireOwnPage(_ origin: OperatorRequest, isTrusted: Bool) throws(ConsoleError) {
        guard origin.isFromNoOtherPage else { throw .foreignPage }
        if let site = origin.site {
            guard site == "same-origin" else { throw .foreignPage }
        } else if isTrusted {
            throw .foreignPage
        }
    }

    /// Whether the request's host is loopback, for which browsers send `Sec-Fetch-Site` without TLS.
    private static func isLoopback(_ request: Request) -> Bool {
        guard let place = HostAndPort(request.authority) else { return true }
        return place.host == "localhost" || place.host.hasSuffix(".localhost") || place.host.hasPrefix("127.")
            || place.host == "::1"
    }

    private func requirePageToken(
        _ origin: OperatorRequest, _ request: Request, _ session: ConsoleSessions.Session
    ) throws(ConsoleError) {
        // Browsers send no origin with a GET to their own.
        guard origin.hasOwnOrigin || request.method == .get else { throw .foreignPage }
        guard let sent = request.headers.value(of: .scribeConsole), OperatorRequest.areEqual(sent, session.token) else {
            throw .noPageToken
        }
    }

    /// Name of the session cookie. All ports of a host share cookies, so the name contains the port.
    static func cookieName(of request: Request) -> String {
        "scribe_console_\(HostAndPort(request.authority)?.port.map(String.init) ?? "")"
    }

    /// Sets the cookie of a session.
    static func keep(_ id: String, of request: Request, isSecure: Bool, in response: inout Response) {
        response.setCookie(
            Cookie(
                name: cookieName(of: request), value: id, maxAge: id.isEmpty ? 0 : ConsoleSessions.lifetime,
                path: "/\(ConsoleFamily.root)", secure: isSecure, httpOnly: true, sameSite: .strict))
    }
}
