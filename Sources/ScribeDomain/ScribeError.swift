/// Everything that a caller can get wrong, or that can go wrong for it, without a word of HTTP.
///
/// Each API family renders them in its own envelope, once, at its edge: by case where its API has words of its own for
/// them, by ``kind`` else. What only one family knows is an error of that family.
package enum ScribeError: Error, Hashable, Sendable {
    /// What was sent is not what the operation takes; `field` is its path, for example `chunk_info.0`.
    case invalidRequest(field: String?, problem: String)
    /// With what was sent there would be more than there may be, in bytes.
    case tooLarge(limit: Int)
    /// The client has started as many transactions as it may.
    case transactionLimitExceeded
    /// The business stores as much as it may.
    case storageQuotaExceeded
    /// The id is taken and the request is not a replay of the one that took it.
    case transactionAlreadyInitialized
    /// No such transaction in this business.
    case transactionNotFound
    /// The transaction was cancelled.
    case transactionCancelled
    /// The transaction was never committed and is older than two hours.
    case transactionNeverCommitted
    /// The session was ended, and takes no more audio.
    case sessionEnded
    /// The session was ended, and its results are there.
    case sessionCompleted
    /// The session was never ended, and its time is over.
    case sessionExpired
    /// No such document or template result in this transaction.
    case resultNotFound
    /// The operation does not fit what has happened so far; the text says why.
    case invalidState(String)
    /// No such template, section or document of the caller's business, or one that cannot be changed.
    case resourceNotFound(String)
    /// Feedback for this was given before.
    case feedbackAlreadySubmitted
    /// A user has asked for this to fail, by a fixture.
    case refusedOnPurpose
    /// The disk is full, or storage is unavailable for another passing reason; the cause is for the log.
    case storageUnavailable(cause: String)

    /// What sort of failure it is, for those who need not know which one.
    package enum Kind: Hashable, Sendable, CaseIterable {
        /// The request is wrong in itself.
        case invalid
        case tooLarge
        case notFound
        /// It is there already.
        case conflict
        /// Not now, or not any more.
        case state
        /// The caller has had as much as it may.
        case exhausted
        /// On purpose.
        case refused
        /// The same may be tried again later.
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

    /// Never changes, so that clients and logs may rely on it.
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
