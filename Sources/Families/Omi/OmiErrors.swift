import HTTPTypes
import Hummingbird
import ScribeDomain
import ScribeHTTP

/// `{"detail": …}`, as FastAPI has it.
struct OmiErrors: ErrorStyle {
    private struct Body: Encodable {
        let detail: String
    }

    func response(to failure: ScribeError, context: ScribeContext) throws -> Response {
        switch failure.kind {
        case .invalid:
            if case .invalidRequest(let field, let problem) = failure {
                return try answer(.unprocessableContent, sentence(on: field, problem))
            }
            return try answer(.unprocessableContent, failure.code)
        case .tooLarge: return try answer(.contentTooLarge, "The body is too large")
        case .notFound: return try answer(.notFound, "Conversation not found")
        case .conflict, .state:
            if case .invalidState(let reason) = failure { return try answer(.conflict, reason) }
            return try answer(.conflict, failure.code)
        case .exhausted: return try answer(.init(code: 402, reasonPhrase: "Payment Required"), failure.code)
        case .refused: return try answer(.forbidden, failure.code)
        case .unavailable: return try answer(.serviceUnavailable, "Storage is not available, try again")
        }
    }

    func response(to problem: HTTPProblem, context: ScribeContext) throws -> Response {
        switch problem {
        case .unauthenticated(let reason):
            try answer(.unauthorized, "Invalid authorization token: \(reason)", [.wwwAuthenticate: "Bearer"])
        case .foreignPage: try answer(.forbidden, Self.foreignPage)
        case .notJSON: try answer(.unsupportedMediaType, Self.notJSON)
        case .bodyTooLarge: try answer(.contentTooLarge, "The body is too large")
        case .routeNotFound(let hint): try answer(.notFound, hint)
        case .methodNotAllowed(let allowed):
            try answer(
                .methodNotAllowed, "Method Not Allowed", [.allow: allowed.joined(separator: ", ")])
        case .busy(let seconds), .tooManyAttempts(let seconds):
            try answer(.tooManyRequests, "Too many at once, try again", .retryAfter(seconds))
        }
    }

    func response(toOwn error: any Error, context: ScribeContext) throws -> Response? {
        switch error as? OmiError {
        case .notFound(let what): try answer(.notFound, "\(what) not found")
        case .keysUnavailable:
            try answer(
                .serviceUnavailable, "The keys of the token's issuer cannot be fetched, try again", .retryAfter(10))
        case .upgradeRequired:
            try answer(.upgradeRequired, "This is a WebSocket", [.upgrade: "websocket"])
        case nil: nil
        }
    }

    func internalError(context: ScribeContext) throws -> Response {
        try answer(.internalServerError, apology(context))
    }

    private func answer(
        _ status: HTTPResponse.Status, _ detail: String, _ headers: HTTPFields = [:]
    ) throws -> Response {
        var response = try Response.json(status, Body(detail: detail))
        response.headers.append(contentsOf: headers)
        return response
    }
}

/// What only this API knows to go wrong.
enum OmiError: Error, Hashable, Sendable {
    /// Nothing of that kind is this user's.
    case notFound(String)
    /// A token cannot be judged: the keys of its issuer cannot be fetched.
    case keysUnavailable
    /// A plain GET where a socket is served.
    case upgradeRequired
}
