import Basics
import HTTPTypes
import ScribeDomain
import ScribeHTTP

/// Renders errors in the transaction API's envelope (eka.md 2.0).
///
/// The top level has no `message`: with one, iOS would lose the code (C-07).
struct EkaErrors: ErrorTable {
    /// Code of the gateway's refusals, which have their own envelope.
    fileprivate static let gateway = "Unauthorized"

    /// Renders `error` as the message alone, for SDKs that read a text there (C-27).
    var asText = false

    let codes: [HTTPResponse.Status: String] = [
        401: Self.gateway, 403: "permission_denied", 413: "validation_error", 415: "unsupported_media_type",
        429: "too_many_requests", 503: "system_error",
    ]

    func refusal(for error: any Error, shared: Refusal, _ context: ScribeContext) -> Refusal? {
        switch error {
        case let error as EkaError: error.refusal
        case let login as DeviceLogins.Refusal:
            Refusal(login == .userCodeNotFound ? .notFound : .badRequest, code: login.rawValue, login.message)
        case ScribeError.invalidRequest: shared.saying(shared.message, code: "validation_error")
        case ScribeError.tooLarge(let limit): Refusal(.bodyTooLarge(limit: limit))
        case ScribeError.transactionLimitExceeded:
            shared.saying("Transaction limit exceeded", code: "txn_limit_exceeded")
        case ScribeError.storageQuotaExceeded:
            shared.saying("No more can be stored; delete some first", code: "storage_limit_exceeded")
        case ScribeError.transactionAlreadyInitialized:
            shared.saying("Transaction already initialized", code: "txn_already_initialized")
        case ScribeError.transactionNotFound: shared.saying("Transaction not found")
        case ScribeError.transactionCancelled: shared.saying("Transaction was cancelled", code: "cancelled")
        case ScribeError.transactionNeverCommitted:
            shared.saying("Transaction was never committed", code: "active_session")
        case ScribeError.sessionEnded, ScribeError.sessionCompleted: shared.saying("The session was ended")
        case ScribeError.sessionExpired:
            shared.saying("The session was never ended, and its time is over", status: .gone)
        case ScribeError.resultNotFound:
            Refusal(.badRequest, code: "resource_not_found", "No such result in this transaction")
        case ScribeError.invalidState: shared.saying(shared.message, code: "invalid_request")
        case ScribeError.feedbackAlreadySubmitted: shared.saying("Feedback for this was given before")
        case ScribeError.refusedOnPurpose:
            Refusal(.internalServerError, code: "system_error", "The transaction's fixture asks for this failure")
        case HTTPProblem.tooManyAttempts: shared.saying("Too many attempts have failed, try again later")
        default: nil
        }
    }

    func envelope(_ refusal: Refusal, _ context: ScribeContext) -> JSON {
        let (code, message) = (JSON.string(refusal.code), JSON.string(refusal.message))
        guard refusal.code != Self.gateway else { return ["error": code, "message": message] }
        let detail: JSON = ["code": code, "message": message, "display_message": message, "msg": message]
        return [
            "status": "failed", "error": asText ? message : detail, "txn_id": .string(context.transactionText ?? ""),
            "b_id": .string(context.principal?.business.rawValue ?? ""),
        ]
    }
}

extension EkaError {
    fileprivate var refusal: Refusal {
        switch self {
        case .invalidCredentials:
            Refusal(.unauthorized, code: "invalid_credentials", "Invalid user name or password")
        case .invalidClient, .refreshRefused: Refusal(.forbidden, code: EkaErrors.gateway, "Forbidden")
        case .audioLocationRequired:
            Refusal(.badRequest, code: "s3_required", "A vaded transaction needs an s3_url")
        case .batchLocationRequired:
            Refusal(.badRequest, code: "batch_s3_required", "A non-vaded transaction needs a batch_s3_url")
        case .linkRefused: Refusal(.forbidden, code: "link_refused", "The link is expired, or leads to nothing")
        case .polledTransactionNotFound:
            Refusal(.badRequest, code: "transaction_not_found", "Transaction not found")
        }
    }
}
