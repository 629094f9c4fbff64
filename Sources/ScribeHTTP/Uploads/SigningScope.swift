import Basics
package import Crypto
package import Foundation

/// Scope of an AWS Signature Version 4: access key, date, region and service.
package struct SigningScope: Hashable, Sendable {
    package static let algorithm = "AWS4-HMAC-SHA256"
    /// The emulated region, the only one; Android reads it from the bucket (C-71).
    package static let region = "ap-south-1"

    package let accessKeyID: String
    package let day: String
    package let region: String
    package let service: String
    /// The scope without its access key.
    package let text: String
    /// The whole scope, as in a credential.
    package var credential: String { "\(accessKeyID)/\(text)" }

    /// Longest credential, in bytes.
    private static let longestCredential = 256

    /// Parses `AKID/20260510/ap-south-1/s3/aws4_request`.
    package init?(_ credential: String) {
        let parts = credential.split(ascii: "/", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 5, parts[4] == "aws4_request", !parts[0].isEmpty,
            credential.utf8.count <= Self.longestCredential
        else { return nil }
        (accessKeyID, day, region, service) = (parts[0], parts[1], parts[2], parts[3])
        text = String(Substring(credential.utf8.dropFirst(accessKeyID.utf8.count + 1)))
    }

    /// Scope of a key that this server issued.
    init(accessKeyID: String, day: String) {
        self.accessKeyID = accessKeyID
        self.day = day
        region = Self.region
        service = "s3"
        text = "\(day)/\(region)/\(service)/aws4_request"
    }

    /// Derives the signing key of this scope from a secret.
    package func signingKey(secret: String) -> SymmetricKey {
        [day, region, service, "aws4_request"].reduce(SymmetricKey(data: Data("AWS4\(secret)".utf8))) {
            SymmetricKey(data: HMAC<SHA256>.authenticationCode(for: Data($1.utf8), using: $0))
        }
    }

    /// Whether an `Authorization` header holds an AWS signature, valid or not, of any version.
    package static func isSignature(_ authorization: String) -> Bool { authorization.hasPrefix("AWS") }

    /// Whether a query parameter of that name marks a signed query, of any version.
    package static func isSignatureParameter(_ name: some StringProtocol) -> Bool {
        name == "X-Amz-Algorithm" || name == "X-Amz-Signature" || name == "AWSAccessKeyId"
    }

    /// A time in the format of signatures: `20260510T091233Z`.
    package static func timestamp(of date: Date) -> String { date.apiTime.filter { $0 != "-" && $0 != ":" } }
}
