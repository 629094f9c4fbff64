/// Errors of HTTP requests that any API may report.
package enum HTTPProblem: Error, Hashable, Sendable {
    /// No token, an unreadable token, or an expired or forged token of this server.
    case unauthenticated(reason: String)
    /// A page of a foreign origin made a browser send the server's cookies.
    case foreignPage
    /// A request authenticated by a cookie has a body that is not declared as JSON.
    case notJSON
    /// The JSON of the body is encoded, which this server does not read.
    case encodedBody(String)
    /// The body is longer than `limit` bytes.
    case bodyTooLarge(limit: Int)
    /// No route matches; `hint` names the nearest route.
    case routeNotFound(hint: String)
    /// The path prefix or the header names a namespace that does not exist.
    case namespaceNotFound
    /// The route exists, but not for this method.
    case methodNotAllowed(allowed: [String])
    /// The server is at capacity; retry after this many seconds.
    case busy(retryAfter: Int)
    /// Too many attempts have failed; retry after this many seconds.
    case tooManyAttempts(retryAfter: Int)
}

extension HTTPProblem {
    /// Name of the case, for logs: associated values may quote a client.
    var name: String { String("\(self)".prefix { $0 != "(" }) }
}
