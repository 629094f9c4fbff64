package import ScribeDomain

/// Whether an engine can be used.
package enum EngineCondition: String, Hashable, Sendable {
    case available
    /// It has failed so often that it is left alone for a while.
    case unavailable
    /// It did not answer when it was asked last.
    case unreachable
}

/// Why a recording was not transcribed, or a note not written.
package struct EngineFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// The code that the user's document will carry.
    package let code: Diagnostic.Code
    /// For the log: never the audio's words.
    package let reason: String
    /// Whether another attempt may succeed.
    package let isRetryable: Bool
    /// How long a service asked to be left alone, in seconds.
    package let retryAfter: Double?
    package let origin: Origin
    /// The text of a service's refusal, for the log alone; empty where there was none.
    package let detail: String

    /// The reason, with what the service wrote.
    package var logged: String { detail.isEmpty ? reason : "\(reason): \(detail)" }

    /// As in the log, wherever an error is written without a look at its type.
    package var description: String { logged }

    /// What failed.
    package enum Origin: Hashable, Sendable {
        /// The service, or the program.
        case service
        /// What was asked for: another recording may be understood, another note be written.
        case input
        /// Nobody was asked, so this was no attempt.
        case refusal
        /// Nothing was sent for so long that another was given the place.
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
