import Basics
import HTTPTypes
import ScribeDomain
import ScribeHTTP

/// Renders errors of `/v1/file-upload` as `{"error": …, "code": …}`, the shape in its documentation.
///
/// Errors of other statuses have the transaction API's envelope.
struct FileUploadErrors: ErrorTable {
    let codes: [HTTPResponse.Status: String] = [400: "INVALID_REQUEST", 413: "INVALID_REQUEST", 500: "SERVER_ERROR"]

    func refusal(for error: any Error, shared: Refusal, _ context: ScribeContext) -> Refusal? {
        switch error {
        case ScribeError.invalidRequest, HTTPProblem.bodyTooLarge: nil
        case is FaultRefusal where codes[shared.status] != nil: nil
        case is ScribeError, is HTTPProblem, is FaultRefusal: EkaErrors().refusal(for: error, context)
        default: nil
        }
    }

    func envelope(_ refusal: Refusal, _ context: ScribeContext) -> JSON {
        guard codes[refusal.status] != nil else { return EkaErrors().envelope(refusal, context) }
        let message = JSON.string(refusal.message)
        return ["error": message, "code": .string(refusal.code), "message": message]
    }
}
