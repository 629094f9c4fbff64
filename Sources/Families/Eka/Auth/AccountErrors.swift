import HTTPTypes
import Hummingbird
import ScribeDomain
import ScribeHTTP

/// `{"code": 401, "error": "…"}`, the shape that login's documentation gives.
struct AccountErrors: ErrorStyle {
    private struct Body: Encodable {
        let code: Int
        let error: String
    }

    func response(to failure: ScribeError, context: ScribeContext) throws -> Response {
        switch failure {
        case .invalidRequest(let field, let problem):
            try answer(.badRequest, "\(field ?? "The body") \(problem)")
        case .storageUnavailable: try answer(.serviceUnavailable, "Storage is not available, try again")
        // Of transactions and their results nothing is asked here.
        case .tooLarge, .transactionLimitExceeded, .storageQuotaExceeded, .transactionAlreadyInitialized,
            .transactionNotFound, .transactionCancelled, .transactionNeverCommitted, .sessionEnded, .sessionCompleted,
            .sessionExpired, .resultNotFound, .invalidState,
            .resourceNotFound, .feedbackAlreadySubmitted, .refusedOnPurpose:
            try internalError(context: context)
        }
    }

    func response(to problem: HTTPProblem, context: ScribeContext) throws -> Response {
        switch problem {
        case .unauthenticated(let reason): try answer(.unauthorized, reason)
        case .foreignPage: try answer(.forbidden, Self.foreignPage)
        case .notJSON: try answer(.unsupportedMediaType, Self.notJSON)
        case .bodyTooLarge(let limit): try answer(.contentTooLarge, "The body is larger than \(limit) bytes")
        case .routeNotFound(let hint): try answer(.notFound, hint)
        case .methodNotAllowed(let allowed):
            try answer(.methodNotAllowed, "This method is not allowed here", [.allow: allowed.joined(separator: ", ")])
        case .busy(let seconds):
            try answer(.serviceUnavailable, "Too much is being done at once, try again", .retryAfter(seconds))
        case .tooManyAttempts(let seconds):
            try answer(.tooManyRequests, "Too many attempts have failed, try again later", .retryAfter(seconds))
        }
    }

    func response(toOwn error: any Error, context: ScribeContext) throws -> Response? {
        guard let error = error as? EkaError else { return nil }
        return switch error {
        case .invalidClient: try answer(.unauthorized, "Invalid client id or client secret")
        // Never 401: an older iOS client would refresh the refresh, without end (C-111).
        case .refreshRefused: try answer(.forbidden, "The refresh token is not valid")
        case .invalidCredentials, .audioLocationRequired, .batchLocationRequired, .linkRefused,
            .polledTransactionNotFound:
            try internalError(context: context)
        }
    }

    func internalError(context: ScribeContext) throws -> Response {
        try answer(.internalServerError, apology(context))
    }

    private func answer(
        _ status: HTTPResponse.Status, _ message: String, _ headers: HTTPFields = [:]
    ) throws -> Response {
        var response = try Response.json(status, Body(code: status.code, error: message))
        response.headers.append(contentsOf: headers)
        return response
    }
}
