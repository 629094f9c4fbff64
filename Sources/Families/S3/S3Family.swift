package import Hummingbird
package import ScribeDomain
package import ScribeHTTP

/// The S3 object API that AWS SDKs use.
///
/// It answers on hosts that name a bucket. It also takes paths that no other family claims, as bucket and key.
package struct S3Family: Family {
    /// AWS host names compiled into the SDKs: path-style hosts, and parents of bucket hosts (eka-v2.md section 1.1).
    ///
    /// Android asks `us-west-1` for a bucket's region.
    package static let hostNames = [
        "s3.amazonaws.com", "s3.ap-south-1.amazonaws.com", "s3-ap-south-1.amazonaws.com", "s3.us-west-1.amazonaws.com",
        "s3-us-west-1.amazonaws.com",
    ]

    /// Further parents of bucket hosts in AWS's SDKs: dual-stack and accelerate endpoints.
    ///
    /// They are for the hosts file alone. In the certificate they would widen the scope of the authority.
    static let otherBucketParents = [
        "s3.dualstack.ap-south-1.amazonaws.com", "s3.dualstack.us-west-1.amazonaws.com", "s3-accelerate.amazonaws.com",
        "s3-accelerate.dualstack.amazonaws.com",
    ]

    /// Buckets compiled into the SDKs.
    package static let buckets = [
        "m-prod-voice-record", "m-staging-voice-record", "m-dev-voice-record", "m-pp-voice2rx",
        "m-prod-ekascribe-batch",
    ]

    /// Names of all operations.
    package static var operationNames: [String] { S3Operation.names }

    package let name = "S3"
    private let settings: Settings

    /// Settings of the family.
    struct Settings: Sendable {
        /// Origin of the addresses of stored objects.
        let origin: LinkOrigin
        /// Whether a `SignatureDoesNotMatch` answer shows the strings that the server signed.
        let explainsSignatures: Bool
        /// Whether a signature for another region is refused.
        let isRegionStrict: Bool
    }

    init(_ settings: Settings) { self.settings = settings }

    package func claim(on address: RequestAddress) -> RouteClaim? {
        AudioLocation.bucket(ofVirtualHost: address.authority) == nil ? .rest : .address
    }

    /// A form has its session token among its fields.
    package func namesWorldLate(_ request: Request) -> Bool { request.method == .post && request.uri.query == nil }

    package func namespaceUse(of address: RequestAddress) -> NamespaceUse { .all }

    package func credentials(of address: RequestAddress) -> OfferedCredentials { Self.credentials(of: address.request) }

    private static func credentials(of request: Request) -> OfferedCredentials {
        OfferedCredentials(head: [
            request.headers.value(of: .amzSecurityToken), request.query["X-Amz-Security-Token"].map(String.init),
        ])
    }

    package func principal(of request: Request, in world: World) async -> Principal? {
        guard let token = Self.credentials(of: request).head.first else { return nil }
        return await world.credentials.holder(ofSessionToken: token)
    }

    package func operation(of request: Request, _ context: ScribeContext) -> String? {
        guard let target = try? S3Target(of: request, context) else { return nil }
        if case .bucket = target.address, request.method == .post, target.query.names.isEmpty {
            return S3Operation.form
        }
        let operation = try? S3Operation(
            request.method, target.address, target.query, copies: request.headers.contains(.amzCopySource))
        return operation?.name
    }

    package func response(to error: any Error, of request: Request, _ context: ScribeContext) -> Response {
        var response = S3Responder.error(thrown: error, context).response(to: request, context: context)
        response.headers[.amzRequestID] = context.requestID
        return response
    }

    package func respond(to request: Request, context: ScribeContext) async throws -> Response {
        try await S3Responder(world: context.world, settings: settings)
            .respond(to: request, context: context)
    }
}
