import Basics
import HTTPTypes
import ScribeDomain
import ScribeHTTP

/// Renders errors as `{"detail": …}`, as FastAPI does: a sentence, or for invalid input a list.
struct OmiErrors: ErrorTable {
    let statuses: [ScribeError.Kind: HTTPResponse.Status] = [
        .invalid: .unprocessableContent, .state: .conflict, .exhausted: .paymentRequired, .refused: .forbidden,
    ]

    func refusal(for error: any Error, shared: Refusal, _ context: ScribeContext) -> Refusal? {
        switch error {
        case OmiError.notFound(let what): Refusal(.notFound, "\(what) not found")
        case OmiError.invalidValue(let reason): Refusal(.badRequest, reason)
        case let input as OmiInvalidInput: invalid([input], "Field '\(input.field ?? "")': \(input.message)")
        case ScribeError.invalidRequest(let field, let problem):
            invalid(
                FaultyFields.each(of: field, problem).map { field, problem in
                    guard let field, problem == "is required" else {
                        return OmiInvalidInput(.body, field, "Input \(problem)")
                    }
                    return .missing(.body, field)
                }, shared.message)
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

    func envelope(_ refusal: Refusal, _ context: ScribeContext) -> JSON {
        guard refusal.details == nil, refusal.status == .unprocessableContent else {
            return ["detail": refusal.details ?? .string(refusal.message)]
        }
        return ["detail": [OmiInvalidInput(.body, nil, refusal.message).json]]
    }

    /// FastAPI's 422.
    /// - Parameter message: The reason in the journal.
    private func invalid(_ inputs: [OmiInvalidInput], _ message: String) -> Refusal {
        Refusal(.unprocessableContent, message, details: .array(inputs, \.json))
    }
}

/// Errors of the Omi API, beside the shared ones.
enum OmiError: Error, Hashable, Sendable {
    /// The user has no such object; the text names its kind.
    case notFound(String)
    /// A value that the backend's signature takes and its code refuses with 400; the text is the backend's.
    case invalidValue(String)
    /// A token cannot be verified: its issuer's keys cannot be fetched.
    case keysUnavailable
    /// A plain GET to a WebSocket path.
    case upgradeRequired
}
