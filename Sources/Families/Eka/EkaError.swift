/// Errors of the EkaScribe API, beside the shared `ScribeError`s.
enum EkaError: Error, Hashable, Sendable {
    /// Login with an unknown client or a wrong secret.
    case invalidClient
    /// Login on the vendor's page with an unknown client or a wrong secret.
    case invalidCredentials
    /// A refresh token that is unknown, expired or was rotated too long ago.
    case refreshRefused
    /// A `vaded` transaction without `s3_url`.
    case audioLocationRequired
    /// A `non-vaded` transaction without `batch_s3_url`.
    case batchLocationRequired
    /// A link that is expired, for another purpose, or not issued by this server.
    case linkRefused
    /// An unknown transaction, to a client that polls for results or asks for a conversion.
    ///
    /// Not a 404, which the web client takes for success (C-51).
    case polledTransactionNotFound
}
