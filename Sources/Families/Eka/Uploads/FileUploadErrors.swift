import HTTPTypes
import Hummingbird
import ScribeDomain
import ScribeHTTP

/// `{"error": …, "code": …}`, the shape that the upload's documentation gives.
struct FileUploadErrors: ErrorStyle {
    private struct Body: Encodable {
        let error: String
        let code: String
        let message: String
    }

    func response(to failure: ScribeError, context: ScribeContext) throws -> Response {
        guard case .invalidRequest(let field, let problem) = failure else {
            return try EkaErrors().response(to: failure, context: context)
        }
        return try answer(.badRequest, "INVALID_REQUEST", sentence(on: field, problem))
    }

    func response(to problem: HTTPProblem, context: ScribeContext) throws -> Response {
        switch problem {
        case .bodyTooLarge(let limit):
            try answer(.contentTooLarge, "INVALID_REQUEST", "The body is larger than \(limit) bytes")
        case .unauthenticated, .foreignPage, .notJSON, .routeNotFound, .methodNotAllowed, .busy, .tooManyAttempts:
            try EkaErrors().response(to: problem, context: context)
        }
    }

    func internalError(context: ScribeContext) throws -> Response {
        try answer(.internalServerError, "SERVER_ERROR", apology(context))
    }

    private func answer(_ status: HTTPResponse.Status, _ code: String, _ message: String) throws -> Response {
        try .json(status, Body(error: message, code: code, message: message))
    }
}
