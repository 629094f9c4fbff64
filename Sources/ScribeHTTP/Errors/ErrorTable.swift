package import HTTPTypes
package import Hummingbird
package import ScribeDomain

/// How one API family says that something went wrong: its codes, its envelope, and what differs from ``Refusal``.
package protocol ErrorTable: Sendable {
    /// The statuses of failures by kind, where the family has others than ``Refusal``.
    var statuses: [ScribeError.Kind: HTTPResponse.Status] { get }
    /// The family's code of each status. A failure whose status is not listed keeps its own name.
    var codes: [HTTPResponse.Status: String] { get }

    /// Returns the refusal for an error that the family words differently or that only the family knows; nil for any
    /// other.
    /// - Parameter shared: what all families say; of an error that only one knows, the internal error.
    func refusal(for error: any Error, shared: Refusal, _ context: ScribeContext) -> Refusal?

    /// The body of an answer.
    func envelope(_ refusal: Refusal, _ context: ScribeContext) -> JSON
    /// Headers of every refusal, beside its own.
    func headers(_ refusal: Refusal, _ context: ScribeContext) -> HTTPFields
}

extension ErrorTable {
    package var statuses: [ScribeError.Kind: HTTPResponse.Status] { [:] }
    package var codes: [HTTPResponse.Status: String] { [:] }
    package func refusal(for error: any Error, shared: Refusal, _ context: ScribeContext) -> Refusal? { nil }
    package func headers(_ refusal: Refusal, _ context: ScribeContext) -> HTTPFields { [:] }

    /// Returns the refusal for an error, with its code; nil for an error that is no caller's to know.
    package func refusal(for error: any Error, _ context: ScribeContext) -> Refusal? {
        let shared: Refusal? =
            switch error {
            case let failure as ScribeError: Refusal(failure, statuses)
            case let problem as HTTPProblem: Refusal(problem)
            default: nil
            }
        return (refusal(for: error, shared: shared ?? .internalError(context), context) ?? shared).map(coded)
    }

    /// Renders an error.
    package func response(to error: any Error, _ context: ScribeContext) -> Response {
        response(refusal(for: error, context) ?? .internalError(context), context)
    }

    /// Renders a refusal.
    package func response(_ refusal: Refusal, _ context: ScribeContext) -> Response {
        let refusal = coded(refusal)
        context.explanation?.note(reason: refusal.message.isEmpty ? refusal.code : refusal.message)
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
