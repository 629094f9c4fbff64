import HTTPTypes
import Hummingbird
import ScribeDomain
import ScribeHTTP

/// The transaction API's envelope (eka.md 2.0). No `message` at the top: iOS would then lose the code (C-07).
struct EkaErrors: ErrorStyle {
    /// Whether `error` is the message alone, for clients that read a text there (C-27).
    var asText = false

    private struct Body<Failure: Encodable & Sendable>: Encodable {
        let status = "failed"
        let error: Failure
        let transaction: String
        let business: String

        enum CodingKeys: String, CodingKey {
            case status, error
            case transaction = "txn_id"
            case business = "b_id"
        }
    }

    private struct Detail: Encodable {
        let code: String
        let message: String
        let displayMessage: String
        /// The name of the message in version 3 of the API.
        let msg: String

        enum CodingKeys: String, CodingKey {
            case code, message, msg
            case displayMessage = "display_message"
        }
    }

    /// What the gateway in front of the API answers.
    private struct GatewayBody: Encodable {
        let error = "Unauthorized"
        let message: String
    }

    func response(to failure: ScribeError, context: ScribeContext) throws -> Response {
        switch failure {
        case .invalidRequest(let field, let problem):
            try answer(.badRequest, "validation_error", sentence(on: field, problem), context)
        case .tooLarge(let limit): try response(to: HTTPProblem.bodyTooLarge(limit: limit), context: context)
        case .transactionLimitExceeded:
            try answer(.badRequest, "txn_limit_exceeded", "Transaction limit exceeded", context)
        case .storageQuotaExceeded:
            try answer(.badRequest, "storage_limit_exceeded", "No more can be stored; delete some first", context)
        case .transactionAlreadyInitialized:
            try answer(.conflict, "txn_already_initialized", "Transaction already initialized", context)
        case .transactionNotFound:
            try answer(.notFound, "transaction_not_found", "Transaction not found", context)
        case .transactionCancelled:
            try answer(.badRequest, "cancelled", "Transaction was cancelled", context)
        case .transactionNeverCommitted:
            try answer(.badRequest, "active_session", "Transaction was never committed", context)
        case .sessionEnded, .sessionCompleted:
            try answer(.badRequest, failure.code, "The session was ended", context)
        case .sessionExpired:
            try answer(.gone, failure.code, "The session was never ended, and its time is over", context)
        case .resultNotFound:
            try answer(.badRequest, "resource_not_found", "No such result in this transaction", context)
        case .invalidState(let problem):
            try answer(.badRequest, "invalid_request", problem, context)
        case .resourceNotFound(let what):
            try answer(.notFound, "resource_not_found", what, context)
        case .feedbackAlreadySubmitted:
            try answer(.conflict, "feedback_already_submitted", "Feedback for this was given before", context)
        case .refusedOnPurpose:
            try answer(.internalServerError, "system_error", "The transaction's fixture asks for this failure", context)
        case .storageUnavailable:
            try answer(.serviceUnavailable, "system_error", "Storage is not available, try again", context)
        }
    }

    func response(to problem: HTTPProblem, context: ScribeContext) throws -> Response {
        switch problem {
        case .unauthenticated(let reason):
            try .json(.unauthorized, GatewayBody(message: reason))
        case .foreignPage: try answer(.forbidden, "permission_denied", Self.foreignPage, context)
        case .notJSON: try answer(.unsupportedMediaType, "unsupported_media_type", Self.notJSON, context)
        case .bodyTooLarge(let limit):
            try answer(.contentTooLarge, "validation_error", "The body is larger than \(limit) bytes", context)
        case .routeNotFound(let hint):
            try answer(.notFound, "route_not_found", hint, context)
        case .methodNotAllowed(let allowed):
            try answer(
                .methodNotAllowed, "method_not_allowed", "Allowed here: \(allowed.joined(separator: ", "))", context,
                headers: [.allow: allowed.joined(separator: ", ")]
            )
        case .busy(let seconds):
            try answer(
                .serviceUnavailable, "system_error", "Too much is being done at once, try again", context,
                headers: .retryAfter(seconds))
        case .tooManyAttempts(let seconds):
            try answer(
                .tooManyRequests, "too_many_requests", "Too many attempts have failed, try again later", context,
                headers: .retryAfter(seconds))
        }
    }

    func response(toOwn error: any Error, context: ScribeContext) throws -> Response? {
        if let refusal = error as? DeviceLogins.Refusal {
            let status: HTTPResponse.Status = refusal == .userCodeNotFound ? .notFound : .badRequest
            return try answer(status, refusal.rawValue, refusal.message, context)
        }
        guard let error = error as? EkaError else { return nil }
        return switch error {
        case .invalidCredentials:
            try answer(.unauthorized, "invalid_credentials", "Invalid user name or password", context)
        case .invalidClient, .refreshRefused:
            try .json(.forbidden, GatewayBody(message: "Forbidden"))
        case .audioLocationRequired:
            try answer(.badRequest, "s3_required", "A vaded transaction needs an s3_url", context)
        case .batchLocationRequired:
            try answer(.badRequest, "batch_s3_required", "A non-vaded transaction needs a batch_s3_url", context)
        case .linkRefused:
            try answer(.forbidden, "link_refused", "The link is expired, or leads to nothing", context)
        case .polledTransactionNotFound:
            try answer(.badRequest, "transaction_not_found", "Transaction not found", context)
        }
    }

    func internalError(context: ScribeContext) throws -> Response {
        try answer(.internalServerError, "unexpected_error", apology(context), context)
    }

    private func answer(
        _ status: HTTPResponse.Status, _ code: String, _ message: String, _ context: ScribeContext,
        headers: HTTPFields = [:]
    ) throws -> Response {
        let detail = Detail(code: code, message: message, displayMessage: message, msg: message)
        var response = try asText ? body(status, message, context) : body(status, detail, context)
        response.headers.append(contentsOf: headers)
        return response
    }

    private func body(
        _ status: HTTPResponse.Status, _ error: some Encodable & Sendable, _ context: ScribeContext
    ) throws -> Response {
        try .json(
            status,
            Body(
                error: error, transaction: context.transactionText ?? "",
                business: context.principal?.business.rawValue ?? ""))
    }
}
