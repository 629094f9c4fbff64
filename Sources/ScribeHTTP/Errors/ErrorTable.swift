package import Basics
package import HTTPTypes
package import Hummingbird
package import ScribeDomain

/// Error format of one family: codes, envelope, and differences from ``Refusal``.
package protocol ErrorTable: Sendable {
    /// Statuses by kind of error, where the family differs from ``Refusal``.
    var statuses: [ScribeError.Kind: HTTPResponse.Status] { get }
    /// The family's code for each status. An error with an unlisted status keeps its own name.
    var codes: [HTTPResponse.Status: String] { get }

    /// The refusal for an error that only this family knows or words differently; nil for any other error.
    /// - Parameter shared: The refusal common to all families; for a family's own error, the internal error.
    func refusal(for error: any Error, shared: Refusal, _ context: ScribeContext) -> Refusal?

    /// Encodes the body of an error answer.
    func envelope(_ refusal: Refusal, _ context: ScribeContext) -> JSON
    /// Headers of every error answer, beside the refusal's own.
    func headers(_ refusal: Refusal, _ context: ScribeContext) -> HTTPFields
}

extension ErrorTable {
    package var statuses: [ScribeError.Kind: HTTPResponse.Status] { [:] }
    package var codes: [HTTPResponse.Status: String] { [:] }
    package func refusal(for error: any Error, shared: Refusal, _ context: ScribeContext) -> Refusal? { nil }
    package func headers(_ refusal: Refusal, _ context: ScribeContext) -> HTTPFields { [:] }

    /// The coded refusal for an error; nil for an internal error that clients must not see.
    package func refusal(for error: any Error, _ context: ScribeContext) -> Refusal? {
        let shared: Refusal? =
            switch error {
            case let failure as ScribeError: Refusal(failure, statuses)
            case let problem as HTTPProblem: Refusal(problem)
            case let fault as FaultRefusal: fault.refusal
            default: nil
            }
        return (refusal(for: error, shared: shared ?? .internalError(context), context) ?? shared).map(coded)
    }

    /// Renders an error as an answer.
    package func response(to error: any Error, _ context: ScribeContext) -> Response {
        response(refusal(for: error, context) ?? .internalError(context), context)
    }

    /// Renders a refusal as an answer.
    package func response(_ refusal: Refusal, _ context: ScribeContext) -> Response {
        let refusal = coded(refusal)
        context.explanation?.note(
            reason: refusal.reason ?? (refusal.message.isEmpty ? refusal.code : refusal.message))
        var response = Response.json(refusal.status, envelope(refusal, context))
        response.headers.append(contentsOf: refusal.headers)
        for field in headers(refusal, context) { response.headers[field.name] = field.value }
        return response
    }

    private func coded(_ refusal: Refusal) -> Refusal {
        var refusal = refusal
        refusal.familyCode = refusal.familyCode ?? codes[refusal.status] ?? refusal.name
        return refusal
    }
}
