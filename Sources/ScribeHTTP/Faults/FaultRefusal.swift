import HTTPTypes
package import ScribeDomain

/// Error that a fault rule makes. Each family renders it in its own format.
package struct FaultRefusal: Error, Hashable, Sendable {
    package let answer: FaultAnswer

    package init(_ answer: FaultAnswer) { self.answer = answer }

    package var message: String { answer.message ?? "A fault rule refuses this on purpose" }
}

extension FaultRefusal {
    /// Status where the rule names none, and the family does not know the code.
    private static let usualStatus = 500

    /// The refusal that families without codes of their own for it render.
    var refusal: Refusal {
        let status = answer.status ?? Self.usualStatus
        return Refusal(
            .init(code: status), code: answer.code, name: Self.names[status] ?? "fault", message,
            headers: answer.retryAfter.map { .retryAfter($0) } ?? [:])
    }

    /// Names that other errors of these statuses have.
    private static let names = [
        400: "invalid_request", 401: "unauthenticated", 403: "forbidden", 404: "not_found", 409: "conflict",
        413: "too_large", 429: "too_many_attempts", 500: "unexpected_error", 503: "busy",
    ]
}
