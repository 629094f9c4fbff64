import HTTPTypes
import ScribeDomain
import ScribeHTTP

/// `{"code": 401, "error": "…"}`, the shape that login's documentation gives.
struct AccountErrors: ErrorTable {
    func refusal(for error: any Error, shared: Refusal, _ context: ScribeContext) -> Refusal? {
        switch error {
        case ScribeError.invalidRequest(let field, let problem): shared.saying("\(field ?? "The body") \(problem)")
        case ScribeError.storageUnavailable: nil
        case HTTPProblem.methodNotAllowed: shared.saying("This method is not allowed here")
        case HTTPProblem.tooManyAttempts: shared.saying("Too many attempts have failed, try again later")
        case EkaError.invalidClient: Refusal(.unauthorized, "Invalid client id or client secret")
        // Never 401: an older iOS client would refresh the refresh, without end (C-111).
        case EkaError.refreshRefused: Refusal(.forbidden, "The refresh token is not valid")
        // A login asks for no transaction and no result.
        case is ScribeError, is EkaError: .internalError(context)
        default: nil
        }
    }

    func envelope(_ refusal: Refusal, _ context: ScribeContext) -> JSON {
        ["code": .integer(refusal.status.code), "error": .string(refusal.message)]
    }
}
