import HTTPTypes
import Hummingbird
import ScribeDomain
import ScribeHTTP

/// `{"code": <status>, "message": "<id>: <detail>"}`: clients read the id at the message's start (suki.md section 1).
struct SukiErrors: ErrorStyle {
    struct Body: Encodable {
        let code: Int
        let message: String

        init(_ code: Int, _ id: String, _ detail: String?) {
            self.code = code
            message = detail.map { "\(id): \($0)" } ?? id
        }
    }

    /// What a body that cannot be taken is called.
    var invalid = "invalid_request"

    func response(to failure: ScribeError, context: ScribeContext) throws -> Response {
        let seconds: [ScribeError.Kind: Int] = [.unavailable: 1, .refused: 1, .exhausted: 10]
        return try answer(
            SukiError(failure, invalid: invalid), seconds[failure.kind].map(HTTPFields.retryAfter) ?? [:])
    }

    func response(to problem: HTTPProblem, context: ScribeContext) throws -> Response {
        switch problem {
        case .unauthenticated(let reason): try answer(.unauthorized, "invalid_sdp_token", reason)
        case .foreignPage: try answer(.forbidden, "forbidden", Self.foreignPage)
        case .notJSON: try answer(.unsupportedMediaType, invalid, Self.notJSON)
        case .bodyTooLarge(let limit):
            try answer(.contentTooLarge, invalid, "the body is larger than \(limit) bytes")
        case .routeNotFound(let hint): try answer(.notFound, "not_found", hint)
        case .methodNotAllowed(let allowed):
            try answer(
                .methodNotAllowed, "method_not_allowed", "allowed here: \(allowed.joined(separator: ", "))",
                [.allow: allowed.joined(separator: ", ")])
        case .busy(let seconds):
            try answer(
                .serviceUnavailable, "service_unavailable", "too much is being done at once", .retryAfter(seconds))
        case .tooManyAttempts(let seconds):
            try answer(.tooManyRequests, "rate_limit_exceeded", "too many attempts", .retryAfter(seconds))
        }
    }

    func response(toOwn error: any Error, context: ScribeContext) throws -> Response? {
        guard let error = error as? SukiError else { return nil }
        return try answer(error, error == .upgradeRequired ? [.upgrade: "websocket"] : [:])
    }

    func internalError(context: ScribeContext) throws -> Response {
        try answer(.internalServerError, "internal_server_error", apology(context))
    }

    private func answer(
        _ status: HTTPResponse.Status, _ id: String, _ detail: String?, _ headers: HTTPFields = [:]
    ) throws -> Response {
        try answer(SukiError(status, id, detail), headers)
    }

    private func answer(_ error: SukiError, _ headers: HTTPFields = [:]) throws -> Response {
        var response = try Response.json(error.status, Body(error.status.code, error.id, error.detail))
        response.headers.append(contentsOf: headers)
        return response
    }
}

extension SukiError {
    /// - Parameter invalid: what a body that cannot be taken is called.
    init(_ failure: ScribeError, invalid: String) {
        switch failure {
        case .invalidRequest(let field, let problem):
            self.init(.badRequest, invalid, "\(field ?? "the body") \(problem)")
        case .transactionNotFound: self.init(.notFound, "ambient_session_not_found")
        case .transactionAlreadyInitialized: self.init(.conflict, "ambient_session_already_exists")
        case .sessionEnded, .sessionCompleted: self.init(.preconditionFailed, "ambient_session_already_ended")
        case .transactionCancelled:
            self.init(.preconditionFailed, "ambient_session_already_ended", "it was cancelled")
        case .sessionExpired, .transactionNeverCommitted:
            self.init(.preconditionFailed, "ambient_session_expired", "it was never ended, and its time is over")
        case .invalidState(let problem): self.init(.preconditionFailed, "content_not_ready", problem)
        case .feedbackAlreadySubmitted: self.init(.conflict, "feedback_already_submitted")
        case .resultNotFound, .resourceNotFound: self.init(.notFound, "not_found")
        case .tooLarge: self.init(.contentTooLarge, invalid, "the body is too large")
        case .transactionLimitExceeded, .storageQuotaExceeded:
            self.init(.tooManyRequests, "rate_limit_exceeded", "no more can be started or stored")
        case .refusedOnPurpose:
            self.init(.serviceUnavailable, "service_unavailable", "the session's fixture asks for this")
        case .storageUnavailable:
            self.init(.serviceUnavailable, "service_unavailable", "storage is not available, try again")
        }
    }
}
