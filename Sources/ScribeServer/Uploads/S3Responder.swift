import Foundation
import HTTPTypes
import Hummingbird
import Logging
import ScribeDomain
import ScribeRuntime
import ScribeStore
import SystemPackage

/// The object API that the AWS SDKs talk to: chunks are uploaded here (eka-v2.md section 3).
///
/// Objects belong to the tenant of the credentials: the same bucket and key of another tenant are other objects.
struct S3Responder: Sendable {
    /// The only region there is; Android learns it from the bucket (C-71).
    static let region = "ap-south-1"
    /// The largest object, in bytes.
    static let objectLimit = 500 << 20
    /// How far a signer's clock may be off, in seconds.
    static let skewLimit: TimeInterval = 15 * 60

    let store: Store
    let objects: ObjectFiles
    let credentials: UploadCredentials
    let bell: JobBell
    let identifiers: IdentifierSource
    let clock: ScribeClock
    let fileIO: FileIO

    func respond(to request: Request, context: ScribeContext) async throws -> Response {
        var response: Response
        do {
            let address = try S3Address(host: request.head.authority ?? "", path: request.uri.path)
            response = try await respond(to: request, at: address, context: context)
        } catch let error as S3Error {
            context.logger.notice("S3 request refused", metadata: ["code": "\(error.codeAndMessage.code)"])
            response = error.response(to: request, context: context)
        } catch let error as ScribeError where error == .storageUnavailable {
            response = S3Error.serviceUnavailable.response(to: request, context: context)
        } catch let error as Errno where [.noSpace, .diskQuotaExceeded, .fileTooLarge].contains(error) {
            context.logger.error("the disk is full")
            response = S3Error.serviceUnavailable.response(to: request, context: context)
        }
        response.headers[.amzRequestID] = context.requestID
        return response
    }

    private func respond(to request: Request, at address: S3Address, context: ScribeContext) async throws -> Response {
        context.coreContext.endpointPath.value = address.key == nil ? "/{bucket}" : "/{bucket}/{key}"
        guard let key = address.key else {
            // Answered to anyone: Android asks before it has signed anything.
            guard request.method == .head else { throw try await refusal(of: request) }
            return Response(status: .ok, headers: [.amzBucketRegion: Self.region])
        }
        let (principal, payload) = try await authenticate(request)
        switch request.method {
        case .put: return try await putObject(request, address.bucket, key, principal, payload)
        case .get: return try await getObject(address.bucket, key, principal, context)
        case .head: return try await headObject(address.bucket, key, principal)
        default: throw S3Error.methodNotAllowed
        }
    }

    /// What to say of a bucket operation that is not served: first whether the caller may ask at all.
    private func refusal(of request: Request) async throws -> S3Error {
        _ = try await authenticate(request)
        return .notImplemented("This operation on a bucket is not implemented.")
    }
}
