import Basics
import HTTPTypes
import ScribeDomain
import ScribeHTTP

/// Renders errors of the template routes in their own envelope, each as a 400 (eka.md 2.0).
///
/// Errors of other statuses have the transaction API's envelope.
struct TemplateErrors: ErrorTable {
    let codes: [HTTPResponse.Status: String] = [400: "BAD_REQUEST", 500: "INTERNAL_SERVER_ERROR"]

    func refusal(for error: any Error, shared: Refusal, _ context: ScribeContext) -> Refusal? {
        switch error {
        case ScribeError.invalidRequest, ScribeError.resourceNotFound, ScribeError.invalidState:
            Refusal(.badRequest, shared.message)
        case is FaultRefusal where codes[shared.status] != nil: nil
        case is ScribeError, is HTTPProblem, is FaultRefusal: EkaErrors().refusal(for: error, context)
        default: nil
        }
    }

    func envelope(_ refusal: Refusal, _ context: ScribeContext) -> JSON {
        guard codes[refusal.status] != nil else { return EkaErrors().envelope(refusal, context) }
        let message = JSON.string(refusal.message)
        return ["error": ["code": .string(refusal.code), "message": message, "display_message": message]]
    }
}
