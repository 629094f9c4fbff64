import HTTPTypes
import Hummingbird
import ScribeDomain
import ScribeHTTP

/// The session protocol's envelope, with the members that older clients read (medscribe.md section 5).
struct AllianceErrors: ErrorStyle {
    private struct Body: Encodable {
        struct Detail: Encodable {
            let code: String
            let message: String
            let displayMessage: String

            enum CodingKeys: String, CodingKey {
                case code, message
                case displayMessage = "display_message"
            }
        }

        let status = "failed"
        let error: Detail
    }

    func response(to failure: ScribeError, context: ScribeContext) throws -> Response {
        switch failure.kind {
        case .invalid:
            if case .invalidRequest(let field, let problem) = failure {
                return try answer(.unprocessableContent, "invalid_request", sentence(on: field, problem))
            }
            return try answer(.unprocessableContent, "invalid_request", failure.code)
        case .tooLarge: return try answer(.contentTooLarge, "invalid_request", "The body is too large")
        case .notFound: return try answer(.notFound, "resource_not_found", "Not found")
        case .conflict: return try answer(.conflict, failure.code, "It is there already")
        case .state: return try answer(.badRequest, "invalid_request", failure.code)
        case .exhausted: return try answer(.tooManyRequests, "txn_limit_exceeded", "No more can be started")
        case .refused:
            return try answer(.internalServerError, "internal_error", "The session's fixture asks for this failure")
        case .unavailable:
            return try answer(.serviceUnavailable, "service_unavailable", "Storage is not available, try again")
        }
    }

    func response(to problem: HTTPProblem, context: ScribeContext) throws -> Response {
        switch problem {
        case .unauthenticated(let reason): try answer(.unauthorized, "authentication_failed", reason)
        case .bodyTooLarge(let limit):
            try answer(.contentTooLarge, "invalid_request", "The body is larger than \(limit) bytes")
        case .routeNotFound(let hint): try answer(.notFound, "resource_not_found", hint)
        case .methodNotAllowed(let allowed):
            try answer(
                .methodNotAllowed, "invalid_request", "Allowed here: \(allowed.joined(separator: ", "))",
                [.allow: allowed.joined(separator: ", ")])
        case .busy(let seconds):
            try answer(
                .serviceUnavailable, "service_unavailable", "Too much is being done at once, try again",
                .retryAfter(seconds))
        case .tooManyAttempts(let seconds):
            try answer(
                .tooManyRequests, "rate_limit_exceeded", "Too many attempts have failed", .retryAfter(seconds))
        }
    }

    func response(toOwn error: any Error, context: ScribeContext) throws -> Response? {
        switch error as? AllianceError {
        case .webhookNotFound: try answer(.notFound, "webhook_not_found", "No such webhook")
        case .tooManyWebhooks:
            try answer(.unprocessableContent, "invalid_request", "No more webhooks can be registered")
        case nil: nil
        }
    }

    func internalError(context: ScribeContext) throws -> Response {
        try answer(.internalServerError, "internal_error", apology(context))
    }

    private func answer(
        _ status: HTTPResponse.Status, _ code: String, _ message: String, _ headers: HTTPFields = [:]
    ) throws -> Response {
        let detail = Body.Detail(code: code, message: message, displayMessage: message)
        var response = try Response.json(status, Body(error: detail))
        response.headers.append(contentsOf: headers)
        return response
    }
}

/// What only the session protocol knows to go wrong.
enum AllianceError: Error, Hashable, Sendable {
    /// The business has none such.
    case webhookNotFound
    case tooManyWebhooks
}
