import Engines
import HTTPTypes
import Hummingbird
import ScribeDomain
import ScribeHTTP

/// `{"err_code": …, "err_msg": …, "request_id": …}` (streaming.md 1.3), or SubQ's `{"error": …, "request_id": …}` (3).
struct ListenErrors: ErrorStyle {
    var speaksSubQ = false

    private struct Body: Encodable {
        var code: String?
        var message: String?
        let request: String
        /// As SubQ says it, and nothing else then.
        var error: String?

        enum CodingKeys: String, CodingKey {
            case error
            case code = "err_code"
            case message = "err_msg"
            case request = "request_id"
        }
    }

    func response(to failure: ScribeError, context: ScribeContext) throws -> Response {
        switch failure {
        case .invalidRequest(let field, let problem):
            try answer(.badRequest, "Bad Request", sentence(on: field, problem), context)
        case .storageUnavailable:
            try answer(.serviceUnavailable, "INTERNAL_SERVER_ERROR", "Storage is not available, try again", context)
        case .tooLarge(let limit):
            try answer(.contentTooLarge, "Bad Request", "The body is larger than \(limit) bytes", context)
        case .storageQuotaExceeded:
            try answer(
                speaksSubQ ? .forbidden : .init(code: 402, reasonPhrase: "Payment Required"), "ASR_PAYMENT_REQUIRED",
                "Project does not have enough storage left.", context)
        case .transactionLimitExceeded, .transactionAlreadyInitialized,
            .transactionNotFound, .transactionCancelled, .transactionNeverCommitted, .sessionEnded, .sessionCompleted,
            .sessionExpired, .resultNotFound, .invalidState,
            .resourceNotFound, .feedbackAlreadySubmitted, .refusedOnPurpose:
            try answer(.badRequest, "Bad Request", failure.code, context)
        }
    }

    func response(to problem: HTTPProblem, context: ScribeContext) throws -> Response {
        switch problem {
        case .unauthenticated: try answer(.unauthorized, "INVALID_AUTH", "Invalid credentials.", context)
        case .foreignPage: try answer(.forbidden, "FORBIDDEN", Self.foreignPage, context)
        case .notJSON: try answer(.unsupportedMediaType, "Bad Request", Self.notJSON, context)
        case .bodyTooLarge(let limit):
            try answer(.contentTooLarge, "Bad Request", "The body is larger than \(limit) bytes", context)
        case .routeNotFound(let hint): try answer(.notFound, "NOT_FOUND", hint, context)
        case .methodNotAllowed(let allowed):
            try answer(
                .methodNotAllowed, "METHOD_NOT_ALLOWED", "Allowed here: \(allowed.joined(separator: ", "))", context,
                [.allow: allowed.joined(separator: ", ")])
        case .busy(let seconds), .tooManyAttempts(let seconds):
            try answer(
                .tooManyRequests, "TOO_MANY_REQUESTS", "Too many are listened to at once, try again", context,
                .retryAfter(seconds))
        }
    }

    func response(toOwn error: any Error, context: ScribeContext) throws -> Response? {
        if let failure = error as? EngineFailure { return try response(to: failure, context) }
        if let problem = error as? OutboundProblem {
            return try answer(.badRequest, "REMOTE_CONTENT_ERROR", problem.explanation, context)
        }
        switch error as? ListenError {
        case .upgradeRequired:
            return try answer(
                .upgradeRequired, "Bad Request", "Live audio goes over a WebSocket; POST sends a whole recording",
                context, [.upgrade: "websocket"])
        case .notPermitted:
            return try answer(
                .forbidden, "INSUFFICIENT_PERMISSIONS", "A granted token grants no other; use an API key.", context)
        case nil: return nil
        }
    }

    private func response(to failure: EngineFailure, _ context: ScribeContext) throws -> Response {
        switch failure.origin {
        case .input:
            return try answer(
                .badRequest, "Bad Request", "Failed to process audio: \(failure.reason)", context)
        case .refusal, .idleness:
            let seconds = Int((failure.retryAfter ?? 1).rounded(.up))
            return try answer(
                .serviceUnavailable, "INTERNAL_SERVER_ERROR", "The recogniser is not available, try again", context,
                .retryAfter(seconds))
        case .service:
            let isLate = failure.code == .transcriptionTimeout
            return try answer(
                isLate ? .gatewayTimeout : .internalServerError, "INTERNAL_SERVER_ERROR",
                isLate ? "The recogniser took too long" : "The recogniser has failed", context)
        }
    }

    func internalError(context: ScribeContext) throws -> Response {
        try answer(.internalServerError, "INTERNAL_SERVER_ERROR", apology(context), context)
    }

    private func answer(
        _ status: HTTPResponse.Status, _ code: String, _ message: String, _ context: ScribeContext,
        _ headers: HTTPFields = [:]
    ) throws -> Response {
        let body =
            speaksSubQ
            ? Body(request: context.requestID, error: message)
            : Body(code: code, message: message, request: context.requestID)
        var response = try Response.json(status, body)
        response.headers.append(contentsOf: headers)
        response.headers[.dgRequestID] = context.requestID
        response.headers[.dgError] = message
        return response
    }
}

/// What only this API knows to go wrong.
enum ListenError: Error, Hashable, Sendable {
    /// A plain GET where a socket is served.
    case upgradeRequired
    /// A granted token asks for what only a key may.
    case notPermitted
}

extension OutboundProblem {
    /// What whoever has named the address is told.
    fileprivate var explanation: String {
        switch self {
        case .invalid(let reason): "The URL \(reason)"
        case .unknownHost: "The host of the URL is not known"
        case .forbidden: "The URL leads to where this server is not sent; its operator can allow it by outbound-allow"
        case .unreachable: "Nobody answered at the URL, or not in time"
        case .redirect(let status): "The URL leads elsewhere (\(status)); name the final one"
        case .refused(let status): "The server of the URL answered with \(status)"
        }
    }
}

extension HTTPField.Name {
    static let dgRequestID = named("dg-request-id")
    static let dgError = named("dg-error")
}
