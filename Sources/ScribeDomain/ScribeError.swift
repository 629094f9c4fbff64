import Basics

/// Error of a request or of its processing, independent of HTTP.
///
/// Each API family renders these errors once, in its own envelope: by case if its API has its own words for the case,
/// otherwise by ``kind``. An error that only one family knows belongs to that family.
package enum ScribeError: Error, Hashable, Sendable {
    /// The request's content is invalid; `field` is its path, for example `chunk_info.0`.
    case invalidRequest(field: String?, problem: String)
    /// The upload would exceed a size limit, in bytes.
    case tooLarge(limit: Int)
    /// The client has used up its transaction quota.
    case transactionLimitExceeded
    /// The business has used up its storage quota.
    case storageQuotaExceeded
    /// Another transaction has the id, and the request is not a replay of its init.
    case transactionAlreadyInitialized
    /// The business has no such transaction.
    case transactionNotFound
    /// The transaction was cancelled.
    case transactionCancelled
    /// The transaction was not committed within two hours.
    case transactionNeverCommitted
    /// The session has ended and takes no more audio.
    case sessionEnded
    /// The session has ended and its results are ready.
    case sessionCompleted
    /// The session was not ended within its lifetime.
    case sessionExpired
    /// The transaction has no such document or template result.
    case resultNotFound
    /// The operation does not fit the current state; the text says why.
    case invalidState(String)
    /// The business has no such template, section or document, or cannot change it.
    case resourceNotFound(String)
    /// Feedback on this part exists already.
    case feedbackAlreadySubmitted
    /// A fixture selected by the user makes this step fail.
    case refusedOnPurpose
    /// The disk is full, or storage is unavailable for another passing reason. The cause is only logged.
    case storageUnavailable(cause: String)

    /// Category of an error, for callers that do not need the exact case.
    package enum Kind: Hashable, Sendable, CaseIterable {
        /// The request itself is wrong.
        case invalid
        case tooLarge
        case notFound
        /// The object exists already.
        case conflict
        /// The current state does not allow the request, not yet or no longer.
        case state
        /// The caller has used up a quota.
        case exhausted
        /// A fixture makes the request fail.
        case refused
        /// A later attempt of the same request may succeed.
        case unavailable
    }

    package var kind: Kind {
        switch self {
        case .invalidRequest: .invalid
        case .tooLarge: .tooLarge
        case .transactionNotFound, .resultNotFound, .resourceNotFound: .notFound
        case .transactionAlreadyInitialized, .feedbackAlreadySubmitted: .conflict
        case .transactionCancelled, .transactionNeverCommitted, .sessionEnded, .sessionCompleted, .sessionExpired,
            .invalidState:
            .state
        case .transactionLimitExceeded, .storageQuotaExceeded: .exhausted
        case .refusedOnPurpose: .refused
        case .storageUnavailable: .unavailable
        }
    }

    /// Stable code for clients and logs; codes never change.
    package var code: String {
        switch self {
        case .invalidRequest: "invalid_request"
        case .tooLarge: "too_large"
        case .transactionLimitExceeded: "transaction_limit_exceeded"
        case .storageQuotaExceeded: "storage_quota_exceeded"
        case .transactionAlreadyInitialized: "transaction_already_initialized"
        case .transactionNotFound: "transaction_not_found"
        case .transactionCancelled: "transaction_cancelled"
        case .transactionNeverCommitted: "transaction_never_committed"
        case .sessionEnded: "session_ended"
        case .sessionCompleted: "session_completed"
        case .sessionExpired: "session_expired"
        case .resultNotFound: "result_not_found"
        case .invalidState: "invalid_state"
        case .resourceNotFound: "resource_not_found"
        case .feedbackAlreadySubmitted: "feedback_already_submitted"
        case .refusedOnPurpose: "refused_on_purpose"
        case .storageUnavailable: "storage_unavailable"
        }
    }
}

extension ScribeError {
    /// Problem of a field whose value names nothing, with the nearest name.
    /// - Parameter kind: Word for what the value should name.
    package static func noSuch(_ kind: String, _ name: String, among known: [String]) -> String {
        guard !known.isEmpty else { return "is not known here" }
        // The value is the client's text: only a short plain one is repeated.
        let shown = name.utf8.count <= 64 && name.isPlain ? "'\(name)'" : "that"
        let near = nearestName(to: String(name.prefix(64)), among: known)
        return "is not known: no \(kind) is called \(shown); nearest: \(near)"
    }
}
