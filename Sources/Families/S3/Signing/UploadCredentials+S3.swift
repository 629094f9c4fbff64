import Crypto
import Foundation
import ScribeDomain
import ScribeHTTP

extension UploadCredentials {
    /// Resolves upload credentials to their owner and signing key.
    /// - Throws: The ``S3Error`` of AWS for unknown, invalid or expired credentials.
    func resolve(
        _ scope: SigningScope, sessionToken: String?
    ) async throws(S3Error) -> (principal: Principal, key: SymmetricKey, ofForm: TimeInterval?) {
        switch await holder(of: scope.accessKeyID, sessionToken: sessionToken) {
        case .known(let principal, let form): (principal, signingKey(for: scope), form)
        case .unknown: throw .invalidAccessKeyID
        case .invalid: throw .invalidToken
        case .expired: throw .expiredToken
        }
    }
}
