import Basics
import HTTPTypes
import ScribeDomain
import ScribeHTTP

/// Renders errors as `{"detail": …}`, as FastAPI does.
struct OmiErrors: ErrorTable {
    let statuses: [ScribeError.Kind: HTTPResponse.Status] = [
        .invalid: .unprocessableContent, .state: .conflict, .exhausted: .paymentRequired, .refused: .forbidden,
    ]

    func refusal(for error: any Error, shared: Refusal, _ context: ScribeContext) -> Refusal? {
        switch error {
        case OmiError.notFound(let what): Refusal(.notFound, "\(what) not found")
        case OmiError.keysUnavailable:
            Refusal(
                .serviceUnavailable, "The keys of the token's issuer cannot be fetched, try again",
                headers: .retryAfter(10))
        case OmiError.upgradeRequired: .upgradeRequired("This is a WebSocket")
        case is ScribeError where shared.status == .notFound: shared.saying("Conversation not found")
        case HTTPProblem.unauthenticated(let reason):
            shared.saying("Invalid authorization token: \(reason)", headers: [.wwwAuthenticate: "Bearer"])
        case HTTPProblem.bodyTooLarge: shared.saying("The body is too large")
        case HTTPProblem.methodNotAllowed: shared.saying("Method Not Allowed")
        case HTTPProblem.busy, HTTPProblem.tooManyAttempts:
            shared.saying("Too many at once, try again", status: .tooManyRequests)
        default: nil
        }
    }

    func envelope(_ refusal: Refusal, _ context: ScribeContext) -> JSON { ["detail": .string(refusal.message)] }
}

/// Errors of the Omi API, beside the shared ones.
enum OmiError: Error, Hashable, Sendable {
    /// The user has no such object; the text names its kind.
    case notFound(String)
    /// A token cannot be verified: its issuer's keys cannot be fetched.
    case keysUnavailable
    /// A plain GET to a WebSocket path.
    case upgradeRequired
}
