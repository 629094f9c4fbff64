/// Everything that a caller can get wrong, or that can go wrong for it, without a word of HTTP.
///
/// Each API family renders every case in its own envelope, once, at its edge.
package enum ScribeError: Error, Hashable, Sendable {
    /// No token, a token that cannot be read, or one of ours that is expired or forged.
    case unauthenticated(reason: String)
    /// Login with an unknown client or a wrong secret.
    case invalidClient
    /// A refresh token that is unknown, expired or was rotated too long ago.
    case refreshRefused
    /// The body is not what the operation takes; `field` is its path, for example `chunk_info.0`.
    case invalidRequest(field: String?, problem: String)
    /// The body is longer than the limit, in bytes.
    case bodyTooLarge(limit: Int)
    /// A `vaded` transaction without `s3_url`.
    case audioLocationRequired
    /// A `non-vaded` transaction without `batch_s3_url`.
    case batchLocationRequired
    /// The client has started as many transactions as it may.
    case transactionLimitExceeded
    /// The business stores as much as it may.
    case storageQuotaExceeded
    /// The id is taken and the request is not a replay of the one that took it.
    case transactionAlreadyInitialized
    /// No such transaction in this business.
    case transactionNotFound
    /// The same, to a client that polls for results, where the web client takes a 404 for success (C-51), or that asks
    /// for a conversion.
    case polledTransactionNotFound
    /// The transaction was cancelled.
    case transactionCancelled
    /// The transaction was never committed and is older than two hours.
    case transactionNeverCommitted
    /// No such document or template result in this transaction.
    case resultNotFound
    /// The operation does not fit what has happened so far; the text says why.
    case invalidState(String)
    /// No such template, section or document of the caller's business, or one that cannot be changed.
    case resourceNotFound(String)
    /// Feedback for this was given before.
    case feedbackAlreadySubmitted
    /// A fixture asks for this to fail.
    case refusedByFixture
    /// No such route; `hint` says what is near.
    case routeNotFound(hint: String)
    /// The route exists, but not with this method.
    case methodNotAllowed(allowed: [String])
    /// More is being done at once than there is room for; in so many seconds it may work.
    case busy(retryAfter: Int)
    /// Too many attempts have failed; in so many seconds another one is let through.
    case tooManyAttempts(retryAfter: Int)
    /// The disk is full, or storage is unavailable for another passing reason.
    case storageUnavailable
}

extension ScribeError {
    /// Whether the same may be tried again later.
    package var isPassing: Bool {
        switch self {
        case .busy, .tooManyAttempts, .storageUnavailable, .refusedByFixture: true
        default: false
        }
    }

    /// The name of the case, for logs: what it carries may quote a client.
    package var name: String { String("\(self)".prefix { $0 != "(" }) }
}
