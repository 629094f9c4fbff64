import Basics
import HTTPTypes
import ScribeDomain
import ScribeHTTP

/// Renders errors of login as `{"code": 401, "error": "…"}`, the shape in the vendor's documentation.
struct AccountErrors: ErrorTable {
    func refusal(for error: any Error, shared: Refusal, _ context: ScribeContext) -> Refusal? {
        switch error {
        case ScribeError.invalidRequest(let field, let problem): shared.saying("\(field ?? "The body") \(problem)")
        case ScribeError.storageUnavailable: nil
        case HTTPProblem.methodNotAllowed: shared.saying("This method is not allowed here")
        case HTTPProblem.tooManyAttempts: shared.saying("Too many attempts have failed, try again later")
        case EkaError.invalidClient: Refusal(.unauthorized, "Invalid client id or client secret")
        // Never 401: an older iOS client would answer that with another refresh, endlessly (C-111).
        case EkaError.refreshRefused: Refusal(.forbidden, "The refresh token is not valid")
        // Login reads no transactions and no results, so these errors cannot occur.
        case is ScribeError, is EkaError: .internalError(context)
        default: nil
        }
    }

    func envelope(_ refusal: Refusal, _ context: ScribeContext) -> JSON {
        ["code": .integer(refusal.status.code), "error": .string(refusal.message)]
    }
}
