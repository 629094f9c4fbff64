package import Hummingbird
import ScribeDomain
package import ScribeHTTP

/// The object API that the AWS SDKs talk to. Its own is every host that names a bucket, and whatever else nobody wants:
/// a path may be a bucket and a key.
package struct S3Family: Family {
    /// The hosts of AWS that clients have compiled in: where buckets are in paths, and below which they are in names
    /// (eka-v2.md section 1.1). Android asks in `us-west-1` where a bucket is.
    package static let hostNames = [
        "s3.amazonaws.com", "s3.ap-south-1.amazonaws.com", "s3-ap-south-1.amazonaws.com", "s3.us-west-1.amazonaws.com",
        "s3-us-west-1.amazonaws.com",
    ]

    /// The buckets that clients have compiled in.
    package static let buckets = [
        "m-prod-voice-record", "m-staging-voice-record", "m-dev-voice-record", "m-pp-voice2rx",
        "m-prod-ekascribe-batch",
    ]

    package let name = "S3"
    private let explainsSignatures: Bool

    /// - Parameter explainsSignatures: whether a client learns what the server has signed when its own signature does
    ///   not match.
    init(explainsSignatures: Bool) { self.explainsSignatures = explainsSignatures }

    package func claim(on address: RequestAddress) -> Claim? {
        AudioLocation.bucket(ofVirtualHost: address.authority) == nil ? .rest : .address
    }

    package func respond(to request: Request, context: ScribeContext) async throws -> Response {
        try await S3Responder(context.world, explainsSignatures: explainsSignatures)
            .respond(to: request, context: context)
    }
}
