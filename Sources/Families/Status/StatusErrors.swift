import HTTPTypes
import Hummingbird
import ScribeDomain
import ScribeHTTP

/// `{"error": {"code": …, "message": …}}`.
struct StatusErrors: ErrorStyle {
    private struct Body: Encodable {
        struct Detail: Encodable {
            let code: String
            let message: String
        }

        let error: Detail
    }

    func response(to failure: ScribeError, context: ScribeContext) throws -> Response {
        switch failure.kind {
        case .unavailable: try answer(.serviceUnavailable, failure.code, "Storage is not available, try again")
        // Nothing is asked here that could be wrong.
        case .invalid, .tooLarge, .notFound, .conflict, .state, .exhausted, .refused:
            try internalError(context: context)
        }
    }

    func response(to problem: HTTPProblem, context: ScribeContext) throws -> Response {
        switch problem {
        case .routeNotFound(let hint): try answer(.notFound, "route_not_found", hint)
        case .methodNotAllowed(let allowed):
            try answer(
                .methodNotAllowed, "method_not_allowed", "Allowed here: \(allowed.joined(separator: ", "))",
                [.allow: allowed.joined(separator: ", ")])
        case .busy(let seconds), .tooManyAttempts(let seconds):
            try answer(
                .serviceUnavailable, "busy", "Too much is being done at once, try again", .retryAfter(seconds))
        case .unauthenticated, .foreignPage, .notJSON, .bodyTooLarge: try internalError(context: context)
        }
    }

    func internalError(context: ScribeContext) throws -> Response {
        try answer(.internalServerError, "unexpected_error", apology(context))
    }

    private func answer(
        _ status: HTTPResponse.Status, _ code: String, _ message: String, _ headers: HTTPFields = [:]
    ) throws -> Response {
        var response = try Response.json(status, Body(error: .init(code: code, message: message)))
        response.headers.append(contentsOf: headers)
        return response
    }
}
