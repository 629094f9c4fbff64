package import Crypto
package import Foundation
import ScribeDomain

/// What an AWS Signature Version 4 is made for: access key, date, region and service.
package struct SigningScope: Hashable, Sendable {
    package static let algorithm = "AWS4-HMAC-SHA256"
    /// The only region there is; Android learns it from the bucket (C-71).
    package static let region = "ap-south-1"

    package let accessKeyID: String
    package let day: String
    package let region: String
    package let service: String
    /// All of it but the key.
    package let text: String
    /// All of it.
    package var credential: String { "\(accessKeyID)/\(text)" }

    /// In bytes: keys and regions are words.
    private static let longestCredential = 256

    /// Reads `AKID/20260510/ap-south-1/s3/aws4_request`.
    package init?(_ credential: String) {
        let parts = credential.split(ascii: "/", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 5, parts[4] == "aws4_request", !parts[0].isEmpty,
            credential.utf8.count <= Self.longestCredential
        else { return nil }
        (accessKeyID, day, region, service) = (parts[0], parts[1], parts[2], parts[3])
        text = String(Substring(credential.utf8.dropFirst(accessKeyID.utf8.count + 1)))
    }

    /// For a key of our own.
    init(accessKeyID: String, day: String) {
        self.accessKeyID = accessKeyID
        self.day = day
        region = Self.region
        service = "s3"
        text = "\(day)/\(region)/\(service)/aws4_request"
    }

    /// The key that a secret gives for this scope.
    package func signingKey(secret: String) -> SymmetricKey {
        [day, region, service, "aws4_request"].reduce(SymmetricKey(data: Data("AWS4\(secret)".utf8))) {
            SymmetricKey(data: HMAC<SHA256>.authenticationCode(for: Data($1.utf8), using: $0))
        }
    }

    /// Whether an `Authorization` header has a signature of AWS's, good or bad, of this version or an older one.
    package static func isSignature(_ authorization: String) -> Bool { authorization.hasPrefix("AWS") }

    /// Whether a query with a parameter of that name is signed, in this version or an older one.
    package static func isSignatureParameter(_ name: some StringProtocol) -> Bool {
        name == "X-Amz-Algorithm" || name == "X-Amz-Signature" || name == "AWSAccessKeyId"
    }

    /// A time as signatures spell it: `20260510T091233Z`.
    package static func timestamp(of date: Date) -> String { date.apiTime.filter { $0 != "-" && $0 != ":" } }
}
