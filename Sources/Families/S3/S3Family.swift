package import Hummingbird
import ScribeDomain
package import ScribeHTTP
package import ScribeRuntime

/// The object API that the AWS SDKs talk to. Its own is every host that names a bucket, and whatever else nobody wants:
/// a path may be a bucket and a key.
package struct S3Family: Family {
    package let name = "S3"
    private let responder: S3Responder

    package init(_ runtime: Runtime, credentials: UploadCredentials) {
        responder = S3Responder(
            store: runtime.store, uploads: runtime.uploads, credentials: credentials,
            identifiers: runtime.identifiers, clock: runtime.clock)
    }

    package func claim(on address: RequestAddress) -> Claim? {
        AudioLocation.bucket(ofVirtualHost: address.authority) == nil ? .rest : .address
    }

    package func respond(to request: Request, context: ScribeContext) async throws -> Response {
        try await responder.respond(to: request, context: context)
    }
}
