import HTTPTypes
import Hummingbird
import ScribeDomain
import ScribeHTTP

/// Eka Connect's envelope: `{"error": {"message": …, "code": …}}` (eka-v2.md section 7).
struct ConnectErrors: ErrorStyle {
    private struct Body: Encodable {
        struct Detail: Encodable {
            let message: String
            let code: String
        }

        let error: Detail
    }

    func response(to failure: ScribeError, context: ScribeContext) throws -> Response {
        switch failure.kind {
        case .invalid:
            if case .invalidRequest(let field, let problem) = failure {
                return try answer(.badRequest, "INVALID_REQUEST", sentence(on: field, problem))
            }
            return try answer(.badRequest, "INVALID_REQUEST", failure.code)
        case .conflict, .state, .exhausted, .refused:
            return try answer(.badRequest, "INVALID_REQUEST", failure.code)
        case .tooLarge: return try answer(.contentTooLarge, "INVALID_REQUEST", "The body is too large")
        case .notFound: return try answer(.notFound, "NOT_FOUND", "No such webhook")
        case .unavailable:
            return try answer(.serviceUnavailable, "SERVER_ERROR", "Storage is not available, try again")
        }
    }

    func response(to problem: HTTPProblem, context: ScribeContext) throws -> Response {
        switch problem {
        case .unauthenticated(let reason): try answer(.unauthorized, "UNAUTHORIZED", reason)
        case .foreignPage: try answer(.forbidden, "FORBIDDEN", Self.foreignPage)
        case .notJSON: try answer(.unsupportedMediaType, "INVALID_REQUEST", Self.notJSON)
        case .bodyTooLarge(let limit):
            try answer(.contentTooLarge, "INVALID_REQUEST", "The body is larger than \(limit) bytes")
        case .routeNotFound(let hint): try answer(.notFound, "NOT_FOUND", hint)
        case .methodNotAllowed(let allowed):
            try answer(
                .methodNotAllowed, "INVALID_REQUEST", "Allowed here: \(allowed.joined(separator: ", "))",
                [.allow: allowed.joined(separator: ", ")])
        case .busy(let seconds):
            try answer(
                .serviceUnavailable, "SERVER_ERROR", "Too much is being done at once, try again",
                .retryAfter(seconds))
        case .tooManyAttempts(let seconds):
            try answer(.tooManyRequests, "INVALID_REQUEST", "Too many attempts have failed", .retryAfter(seconds))
        }
    }

    func response(toOwn error: any Error, context: ScribeContext) throws -> Response? {
        switch error as? ConnectError {
        case .alreadyRegistered:
            try answer(.badRequest, "INVALID_REQUEST", "requested endpoint is already registered")
        case .tooMany: try answer(.badRequest, "INVALID_REQUEST", "no more endpoints can be registered")
        case .unknownWebhook: try answer(.notFound, "NOT_FOUND", "No such webhook")
        case nil: nil
        }
    }

    func internalError(context: ScribeContext) throws -> Response {
        try answer(.internalServerError, "SERVER_ERROR", apology(context))
    }

    private func answer(
        _ status: HTTPResponse.Status, _ code: String, _ message: String, _ headers: HTTPFields = [:]
    ) throws -> Response {
        var response = try Response.json(status, Body(error: .init(message: message, code: code)))
        response.headers.append(contentsOf: headers)
        return response
    }
}

/// What only the subscriptions know to go wrong.
enum ConnectError: Error, Hashable, Sendable {
    case alreadyRegistered
    case tooMany
    /// The business has none such.
    case unknownWebhook
}
