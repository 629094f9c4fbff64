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
    /// Whether a `SignatureDoesNotMatch` answer shows the strings that the server signed.
    let explainsSignatures: Bool

    var store: Store { world.runtime.store }
    var uploads: Uploads { world.runtime.uploads }
    var credentials: UploadCredentials { world.credentials }
    var identifiers: WorldIdentifiers { world.runtime.identifiers }
    var clock: WorldClock { world.runtime.clock }

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
            context.logger.notice("S3 request refused", metadata: ["code": "\(error.codeAndMessage.code)"])
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
        let address = try S3Address(host: request.authority, path: request.uri.path)
        if address.isKnown || RequestAddress(request).isSigned { context.explanation?.noteKey() }
        guard let query = SigV4Query(request.uri.query ?? "") else { throw S3Error.invalidURI }
        // HeadBucket needs no signature: Android sends it before its first signed request.
        if case .bucket = address, request.method == .head {
            context.coreContext.endpointPath.value = "S3 HeadBucket"
            return Response(status: .ok, headers: [.amzBucketRegion: SigningScope.region])
        }
        // A POST form carries its signature in its fields.
        if case .bucket(let bucket) = address, request.method == .post, query.names.isEmpty {
            context.coreContext.endpointPath.value = "S3 PostObject"
            return try await postObject(request, into: bucket, context)
        }
        let caller = try await authenticate(request, query, context)
        context.noteCaller(caller.principal)
        let operation = try S3Operation(
            request.method, address, query, copies: request.headers.contains(.amzCopySource)
        )
        context.coreContext.endpointPath.value = operation.route
        let business = caller.principal.business
        if !operation.hasBody { try await checkEmptiness(of: request, caller, context) }
        switch operation {
        case .listBuckets: return try await listBuckets(business)
        case .headBucket: return Response(status: .ok, headers: [.amzBucketRegion: SigningScope.region])
        case .listMultipartUploads(let bucket): return try await listMultipartUploads(in: bucket, query, business)
        case .listObjects(let bucket): return try await listObjects(in: bucket, query, business)
        case .putObject(let object): return try await putObject(request, object, caller)
        case .getObject(let object): return try await getObject(request, object, caller, query)
        case .headObject(let object): return try await headObject(request, object, caller, query)
        case .deleteObject(let object): return try await deleteObject(object, business)
        case .createMultipartUpload(let object): return try await createMultipartUpload(request, object, business)
        case .uploadPart(let object, let id, let number):
            return try await uploadPart(request, object, id, number, caller)
        case .completeMultipartUpload(let object, let id):
            return try await completeMultipartUpload(request, object, id, caller, context)
        case .abortMultipartUpload(let object, let id): return try await abortMultipartUpload(object, id, business)
        case .listParts(let object, let id): return try await listParts(object, id, query, business)
        }
    }
}
