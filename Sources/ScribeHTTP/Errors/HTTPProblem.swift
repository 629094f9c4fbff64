/// What a caller can only get wrong over HTTP, whatever it wants.
package enum HTTPProblem: Error, Hashable, Sendable {
    /// No token, a token that cannot be read, or one of ours that is expired or forged.
    case unauthenticated(reason: String)
    /// A web page that may not use the server's cookies has made a browser send them.
    case foreignPage
    /// By a cookie a body was sent that is declared as something other than the JSON that is read.
    case notJSON
    /// The body is longer than the limit, in bytes.
    case bodyTooLarge(limit: Int)
    /// No such route; `hint` says what is near.
    case routeNotFound(hint: String)
    /// The route exists, but not with this method.
    case methodNotAllowed(allowed: [String])
    /// More is being done at once than there is room for; in so many seconds it may work.
    case busy(retryAfter: Int)
    /// Too many attempts have failed; in so many seconds another one is let through.
    case tooManyAttempts(retryAfter: Int)
}

extension HTTPProblem {
    /// The name of the case, for logs: what it carries may quote a client.
    var name: String { String("\(self)".prefix { $0 != "(" }) }
}
