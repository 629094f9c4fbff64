import Basics
import HTTPTypes
import ScribeDomain
import ScribeHTTP

/// Renders errors in Eka Connect's envelope, `{"error": {"message": …, "code": …}}` (eka-v2.md section 7).
struct ConnectErrors: ErrorTable {
    let statuses: [ScribeError.Kind: HTTPResponse.Status] = [.conflict: .badRequest]
    let codes: [HTTPResponse.Status: String] = [
        400: "INVALID_REQUEST", 401: "UNAUTHORIZED", 403: "FORBIDDEN", 404: "NOT_FOUND", 405: "INVALID_REQUEST",
        413: "INVALID_REQUEST", 415: "INVALID_REQUEST", 429: "INVALID_REQUEST", 500: "SERVER_ERROR",
        503: "SERVER_ERROR",
    ]

    func refusal(for error: any Error, shared: Refusal, _ context: ScribeContext) -> Refusal? {
        switch error {
        case ConnectError.alreadyRegistered: Refusal(.badRequest, "requested endpoint is already registered")
        case ConnectError.tooMany: Refusal(.badRequest, "no more endpoints can be registered")
        case ConnectError.unknownWebhook: Refusal(.notFound, "No such webhook")
        case is ScribeError where shared.status == .notFound: shared.saying("No such webhook")
        case ScribeError.invalidState: shared.saying(shared.name)
        default: nil
        }
    }

    func envelope(_ refusal: Refusal, _ context: ScribeContext) -> JSON {
        ["error": ["message": .string(refusal.message), "code": .string(refusal.code)]]
    }
}

/// Errors of webhook subscriptions, beside the shared ones.
enum ConnectError: Error, Hashable, Sendable {
    case alreadyRegistered
    case tooMany
    /// The business has no subscription with this id.
    case unknownWebhook
}
