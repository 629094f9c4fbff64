import Basics
import ScribeDomain
import ScribeHTTP

/// Renders errors as `{"error": {"code": …, "message": …}}`.
struct StatusErrors: ErrorTable {
    func refusal(for error: any Error, shared: Refusal, _ context: ScribeContext) -> Refusal? {
        switch error {
        case ScribeError.storageUnavailable, HTTPProblem.routeNotFound, HTTPProblem.methodNotAllowed, HTTPProblem.busy:
            nil
        case HTTPProblem.tooManyAttempts(let seconds): Refusal(.busy(retryAfter: seconds))
        // These routes read no input that could be wrong.
        case is ScribeError, is HTTPProblem: .internalError(context)
        default: nil
        }
    }

    func envelope(_ refusal: Refusal, _ context: ScribeContext) -> JSON {
        ["error": ["code": .string(refusal.code), "message": .string(refusal.message)]]
    }
}
