package import Foundation

/// Where the keys of an issuer of tokens are.
package enum IssuerKeys: Hashable, Sendable {
    /// A JWK set.
    case set(Data)
    /// The URL of one.
    case address(String)
}
