package import Foundation

/// Location of a token issuer's keys.
package enum IssuerKeys: Hashable, Sendable {
    /// The JWK set itself, as JSON.
    case set(Data)
    /// URL of a JWK set.
    case address(String)
}
