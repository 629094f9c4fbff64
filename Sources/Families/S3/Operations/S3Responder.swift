import Engines
import Foundation
import HTTPTypes
import Hummingbird
import Logging
import ObjectStorage
import ScribeDomain
import ScribeHTTP
import ScribeRuntime
import ScribeStore

/// Answers the S3 requests of AWS SDKs, which upload audio chunks here (eka.md section 3).
///
/// Objects belong to the credentials' tenant: the same bucket and key of two tenants are two objects.
struct S3Responder: Sendable {
    /// Largest difference between a signer's clock and the server's, in seconds.
    static let skewLimit: TimeInterval = 15 * 60

    let world: World
    let settings: S3Family.Settings

    var store: Store { world.runtime.store }
    var uploads: Uploads { world.runtime.uploads }
    var credentials: UploadCredentials { world.credentials }
    var identifiers: WorldIdentifiers { world.runtime.identifiers }
    var clock: WorldClock { world.runtime.clock }
    var origin: LinkOrigin { settings.origin }

    func respond(to request: Request, context: ScribeContext) async throws -> Response {
        context.coreContext.endpointPath.value = "S3"
        var response: Response
        do {
            response = try await perform(request, context)
        } catch  where error.isBrokenRequest {
            throw error
        } catch {
            response = Self.error(thrown: error, context).response(to: request, context: context)
        }
        response.headers[.amzRequestID] = context.requestID
        return response
    }

    /// Logs an error, and returns the S3 error for the client.
    static func error(thrown failure: any Error, _ context: ScribeContext) -> S3Error {
        switch failure {
        case let error as S3Error:
            context.logger.notice("S3 request refused", metadata: ["code": "\(error.code)"])
            return error
        case let failure as ScribeError: return error(for: failure, context)
        case let fault as FaultRefusal: return .fault(fault.answer)
        case HTTPProblem.busy: return .serviceUnavailable
        case HTTPProblem.namespaceNotFound: return .noSuchNamespace
        case HTTPProblem.unauthenticated(let reason): return .accessDenied(reason)
        default:
            context.logger.error("unexpected error", metadata: ["error": "\(failure)"])
            return .internalError
        }
    }

    private static func error(for failure: ScribeError, _ context: ScribeContext) -> S3Error {
        switch failure.kind {
        case .exhausted: return .quotaExceeded
        case .unavailable, .refused:
            if case .storageUnavailable(let cause) = failure {
                context.logger.error("nothing can be written", metadata: ["error": "\(cause)"])
            }
            return .serviceUnavailable
        case .state:
            // A session that accepts no more audio; 403, since a retry would be in vain.
            return .accessDenied("The session takes no more audio: \(failure.code)")
        case .invalid, .tooLarge, .notFound, .conflict:
            context.logger.error("unexpected error", metadata: ["error": "\(failure.code)"])
            return .internalError
        }
    }

    private func perform(_ request: Request, _ context: ScribeContext) async throws -> Response {
        let target = try S3Target(of: request, context)
        let (address, query) = (target.address, target.query)
        // HeadBucket at a bucket's host needs no signature: Android sends it before its first signed request.
        if case .bucket = address, request.method == .head,
            AudioLocation.bucket(ofVirtualHost: request.authority) != nil
        {
            context.coreContext.endpointPath.value = "S3 HeadBucket"
            return Response(status: .ok, headers: [.amzBucketRegion: SigningScope.region])
        }
        // A POST form carries its signature in its fields.
        if case .bucket(let bucket) = address, request.method == .post, query.names.isEmpty {
            context.coreContext.endpointPath.value = "S3 PostObject"
            return try await postObject(request, into: bucket, context)
        }
        let (caller, region) = try await authenticate(request, query, context)
        context.noteCaller(caller.principal)
        let operation = try S3Operation(
            request.method, address, query, copies: request.headers.contains(.amzCopySource)
        )
        context.coreContext.endpointPath.value = operation.route
        if !operation.tellsRegion { try check(region: region, context) }
        if !operation.hasBody { try await checkEmptiness(of: request, caller, context) }
        return try await perform(operation, request, query, caller, context)
    }

    /// - Throws: ``S3Error/wrongRegion(_:)`` under `s3-region strict`.
    func check(region: String, _ context: ScribeContext) throws(S3Error) {
        guard region != SigningScope.region else { return }
        guard !settings.isRegionStrict else { throw .wrongRegion(region) }
        context.note(
            ignored: "region", because: "of the signature is another than the bucket's, \(SigningScope.region)")
    }

    private func perform(
        _ operation: S3Operation, _ request: Request, _ query: SigV4Query, _ caller: VerifiedS3Request,
        _ context: ScribeContext
    ) async throws -> Response {
        let business = caller.principal.business
        switch operation {
        case .listBuckets: return try await listBuckets(business)
        case .createBucket(let bucket): return try await createBucket(request, bucket, caller, context)
        case .deleteBucket(let bucket): return try await deleteBucket(bucket, business)
        case .headBucket: return Response(status: .ok, headers: [.amzBucketRegion: SigningScope.region])
        case .bucketDefault(let wanted, _): return try property(wanted, ofObject: false, business)
        case .listMultipartUploads(let bucket): return try await listMultipartUploads(in: bucket, query, business)
        case .listObjects(let bucket): return try await listObjects(in: bucket, query, business)
        case .deleteObjects(let bucket): return try await deleteObjects(request, in: bucket, caller, context)
        case .putObject(let object): return try await putObject(request, object, caller)
        case .copyObject(let object): return try await copyObject(request, object, caller)
        case .getObject(let object): return try await getObject(request, object, caller, query)
        case .headObject(let object): return try await headObject(request, object, caller, query)
        case .deleteObject(let object): return try await deleteObject(object, business)
        case .objectDefault(let wanted, let object):
            _ = try await self.object(object, business)
            return try property(wanted, ofObject: true, business)
        case .createMultipartUpload(let object): return try await createMultipartUpload(request, object, business)
        case .uploadPart(let object, let id, let number):
            return try await uploadPart(request, object, id, number, caller)
        case .uploadPartCopy(let object, let id, let number):
            return try await uploadPartCopy(request, object, id, number, caller)
        case .completeMultipartUpload(let object, let id):
            return try await completeMultipartUpload(request, object, id, caller, context)
        case .abortMultipartUpload(let object, let id): return try await abortMultipartUpload(object, id, business)
        case .listParts(let object, let id): return try await listParts(object, id, query, business)
        }
    }
}
