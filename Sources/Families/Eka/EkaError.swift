/// What only this API knows to go wrong.
enum EkaError: Error, Hashable, Sendable {
    /// Login with an unknown client or a wrong secret.
    case invalidClient
    /// The same of the vendor's login page.
    case invalidCredentials
    /// A refresh token that is unknown, expired or was rotated too long ago.
    case refreshRefused
    /// A `vaded` transaction without `s3_url`.
    case audioLocationRequired
    /// A `non-vaded` transaction without `batch_s3_url`.
    case batchLocationRequired
    /// A link that is expired, for something else, or none of ours.
    case linkRefused
    /// No such transaction, to a client that polls for results, where the web client takes a 404 for success (C-51), or
    /// that asks for a conversion.
    case polledTransactionNotFound
}
