package import ScribeDomain

/// Availability of an engine.
package enum EngineCondition: String, Hashable, Sendable {
    case available
    /// The circuit breaker blocks the engine after repeated failures.
    case unavailable
    /// The last probe got no answer.
    case unreachable
}

/// Failure of a recognition or of a note.
package struct EngineFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// Code of the diagnostic in the user's document.
    package let code: Diagnostic.Code
    /// Reason for the log; it never contains words of the audio.
    package let reason: String
    /// Whether another attempt may succeed.
    package let isRetryable: Bool
    /// Seconds for which the service asked not to be called; nil if it did not ask.
    package let retryAfter: Double?
    package let origin: Origin
    /// Text of a service's refusal, only for the log; empty without one.
    package let detail: String

    /// Copy with another text of the service's refusal.
    func replacingDetail(by detail: String) -> EngineFailure {
        EngineFailure(
            code, reason, isRetryable: isRetryable, retryAfter: retryAfter, origin: origin, detail: detail)
    }

    /// Reason with the service's text, for the log.
    package var logged: String { detail.isEmpty ? reason : "\(reason): \(detail)" }

    /// Text for the log, also where an error is printed without its type.
    package var description: String { logged }

    /// Origin of a failure.
    package enum Origin: Hashable, Sendable {
        /// The service or the program failed.
        case service
        /// The input is at fault: another recording or note may succeed.
        case input
        /// The engine was not asked, so the attempt does not count.
        case refusal
        /// The stream was idle, and another stream took its decoder.
        case idleness
    }

    package init(
        _ code: Diagnostic.Code, _ reason: String, isRetryable: Bool = false, retryAfter: Double? = nil,
        origin: Origin? = nil, detail: String = ""
    ) {
        self.detail = detail
        self.code = code
        self.reason = reason
        self.isRetryable = isRetryable
        self.retryAfter = retryAfter
        self.origin =
            origin ?? ([.transcriptionFailed, .transcriptionTimeout, .noteFailed].contains(code) ? .service : .input)
    }
}
