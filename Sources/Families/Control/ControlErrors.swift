import HTTPTypes
import Hummingbird
import ScribeDomain
import ScribeHTTP

/// `application/problem+json` (RFC 9457), with a `code` for programs.
struct ControlErrors: ErrorStyle {
    private struct Body: Encodable {
        let type = "about:blank"
        let title: String
        let status: Int
        let detail: String
        let code: String
        let request: String

        enum CodingKeys: String, CodingKey {
            case type, title, status, detail, code
            case request = "request_id"
        }
    }

    func response(to failure: ScribeError, context: ScribeContext) throws -> Response {
        switch failure.kind {
        case .invalid:
            if case .invalidRequest(let field, let problem) = failure {
                return try answer(.badRequest, failure.code, sentence(on: field, problem), context)
            }
            return try answer(.badRequest, failure.code, "Not understood", context)
        case .tooLarge: return try answer(.contentTooLarge, failure.code, "The body is too large", context)
        case .notFound: return try answer(.notFound, "not_found", "There is none such", context)
        case .conflict, .state, .exhausted, .refused:
            if case .invalidState(let reason) = failure { return try answer(.conflict, failure.code, reason, context) }
            return try answer(.conflict, failure.code, "Not now", context)
        case .unavailable:
            return try answer(
                .serviceUnavailable, failure.code, "Storage is not available, try again", context)
        }
    }

    func response(to problem: HTTPProblem, context: ScribeContext) throws -> Response {
        switch problem {
        case .unauthenticated(let reason):
            try answer(.unauthorized, "unauthenticated", reason, context, [.wwwAuthenticate: "Bearer"])
        case .foreignPage: try answer(.forbidden, "foreign_page", Self.foreignPage, context)
        case .notJSON: try answer(.unsupportedMediaType, "not_json", Self.notJSON, context)
        case .bodyTooLarge(let limit):
            try answer(.contentTooLarge, "too_large", "The body is larger than \(limit) bytes", context)
        case .routeNotFound:
            try answer(
                .notFound, "route_not_found", "No such route; /\(ControlFamily.root)/openapi.yaml lists them", context)
        case .methodNotAllowed(let allowed):
            try answer(
                .methodNotAllowed, "method_not_allowed", "Allowed here: \(allowed.joined(separator: ", "))", context,
                [.allow: allowed.joined(separator: ", ")])
        case .busy(let seconds):
            try answer(
                .serviceUnavailable, "busy", "Too much is being done at once, try again", context,
                .retryAfter(seconds))
        case .tooManyAttempts(let seconds):
            try answer(
                .tooManyRequests, "too_many_attempts", "Too many wrong tokens were sent, try again later", context,
                .retryAfter(seconds))
        }
    }

    func response(toOwn error: any Error, context: ScribeContext) throws -> Response? {
        switch error as? ControlError {
        case .foreignHost:
            try answer(
                .forbidden, "foreign_host",
                "Ask by an address, by localhost, or by a name without a dot: other names may be a web page's", context)
        case .foreignPage: try answer(.forbidden, "foreign_page", "No web page may ask here", context)
        case .unmarked:
            try answer(
                .forbidden, "unmarked", "A browser asks without a token: send the header X-Scribe-Admin: 1", context)
        case .forwarded:
            try answer(
                .forbidden, "forwarded", "Through a proxy this door opens only with a token: set --admin-token", context
            )
        case .notJSON: try answer(.unsupportedMediaType, "not_json", "Bodies are application/json", context)
        case .notFound: try answer(.notFound, "not_found", "There is none such", context)
        case nil: nil
        }
    }

    func internalError(context: ScribeContext) throws -> Response {
        try answer(.internalServerError, "unexpected_error", apology(context), context)
    }

    private func answer(
        _ status: HTTPResponse.Status, _ code: String, _ detail: String, _ context: ScribeContext,
        _ headers: HTTPFields = [:]
    ) throws -> Response {
        var response = try Response.json(
            status,
            Body(
                title: status.reasonPhrase, status: status.code, detail: detail, code: code,
                request: context.requestID))
        response.headers[.contentType] = "application/problem+json"
        response.headers.append(contentsOf: headers)
        return response
    }
}

/// What only this door knows to go wrong.
enum ControlError: Error, Hashable, Sendable {
    /// By a name that may be a web page's.
    case foreignHost
    /// A browser says that another site's page asks.
    case foreignPage
    /// No token is asked for on this machine, and a proxy speaks for somebody else.
    case forwarded
    case notJSON
    /// A browser asks, and nothing says that it is for an operator's page.
    case unmarked
    case notFound
}
