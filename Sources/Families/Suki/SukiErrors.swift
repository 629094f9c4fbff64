import Basics
import HTTPTypes
import ScribeDomain
import ScribeHTTP

/// Renders errors as `{"code": <status>, "message": "<id>: <detail>"}`; SDKs read the leading id (suki.md section 1).
struct SukiErrors: ErrorTable {
    /// Error id for an invalid body.
    var invalid = "invalid_request"

    var codes: [HTTPResponse.Status: String] {
        [
            401: "invalid_sdp_token", 403: "forbidden", 404: "not_found", 413: invalid, 415: invalid,
            429: "rate_limit_exceeded", 500: "internal_server_error", 503: "service_unavailable",
        ]
    }

    func refusal(for error: any Error, shared: Refusal, _ context: ScribeContext) -> Refusal? {
        switch error {
        case let error as SukiError: error.refusal
        case let failure as ScribeError: refusal(for: failure)
        case let problem as DiagnosisProblem:
            Refusal(.badRequest, code: invalid, "\(problem.id): \(problem.field) \(problem.problem)")
        case HTTPProblem.bodyTooLarge(let limit): shared.saying("the body is larger than \(limit) bytes")
        case HTTPProblem.methodNotAllowed(let allowed):
            shared.saying("allowed here: \(allowed.joined(separator: ", "))")
        case HTTPProblem.busy: shared.saying("too much is being done at once")
        case HTTPProblem.tooManyAttempts: shared.saying("too many attempts")
        default: nil
        }
    }

    /// The refusal for an error, for HTTP answers and for sockets.
    func refusal(for failure: ScribeError) -> Refusal {
        switch failure {
        case .invalidRequest(let field, let problem):
            Refusal(.badRequest, code: invalid, "\(field ?? "the body") \(problem)")
        case .transactionNotFound: Refusal(.notFound, code: "ambient_session_not_found", "")
        case .transactionAlreadyInitialized: Refusal(.conflict, code: "ambient_session_already_exists", "")
        case .sessionEnded, .sessionCompleted:
            Refusal(.preconditionFailed, code: "ambient_session_already_ended", "")
        case .transactionCancelled:
            Refusal(.preconditionFailed, code: "ambient_session_already_ended", "it was cancelled")
        case .sessionExpired, .transactionNeverCommitted:
            Refusal(
                .preconditionFailed, code: "ambient_session_expired", "it was never ended, and its time is over")
        case .invalidState(let problem): Refusal(.preconditionFailed, code: "content_not_ready", problem)
        case .feedbackAlreadySubmitted: Refusal(.conflict, code: failure.code, "")
        case .resultNotFound, .resourceNotFound: Refusal(.notFound, code: "not_found", "")
        case .tooLarge: Refusal(.contentTooLarge, code: invalid, "the body is too large")
        case .transactionLimitExceeded, .storageQuotaExceeded:
            Refusal(
                .tooManyRequests, code: "rate_limit_exceeded", "no more can be started or stored",
                headers: .retryAfter(10))
        case .refusedOnPurpose: unavailable("the session's fixture asks for this")
        case .storageUnavailable: unavailable("storage is not available, try again")
        }
    }

    private func unavailable(_ detail: String) -> Refusal {
        Refusal(.serviceUnavailable, code: "service_unavailable", detail, headers: .retryAfter(1))
    }

    func envelope(_ refusal: Refusal, _ context: ScribeContext) -> JSON { Self.envelope(refusal) }

    static func envelope(_ refusal: Refusal) -> JSON {
        let (id, detail) = (refusal.code, refusal.message)
        return ["code": .integer(refusal.status.code), "message": .string(detail.isEmpty ? id : "\(id): \(detail)")]
    }
}

extension SukiError {
    fileprivate var refusal: Refusal {
        self == .upgradeRequired
            ? .upgradeRequired(code: id, detail ?? "") : Refusal(status, code: id, detail ?? "", headers: headers)
    }
}
