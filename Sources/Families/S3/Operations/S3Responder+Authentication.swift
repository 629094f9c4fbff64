import Basics
import Crypto
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import ScribeDomain
import ScribeHTTP

extension S3Responder {
    /// Verifies the signature against the received host, path and query.
    ///
    /// A laxer check would pass clients that AWS refuses.
    ///
    /// The path is the client's, with the prefix of a namespace.
    /// - Returns: The caller, and the region that the signature is for.
    func authenticate(
        _ request: Request, _ query: SigV4Query, _ context: ScribeContext
    ) async throws -> (caller: VerifiedS3Request, region: String) {
        let headers = request.headers
        let authority = request.authority
        let message = SigV4.Message(
            method: request.method.rawValue, path: context.namespacePrefix?.sentPath ?? request.uri.path,
            query: request.uri.query ?? "",
            header: { name in
                if name == "host" { return authority }
                guard let name = HTTPField.Name(name) else { return nil }
                guard headers.count > Self.fewHeaders else { return headers.value(of: name, separator: ",") }
                // The client chooses the names, so that among many headers each is found by their index.
                let values = headers[values: name]
                return values.isEmpty ? nil : values.joined(separator: ",")
            }
        )
        guard let signature = try SigV4.read(from: message) else {
            throw S3Error.accessDenied(
                "No API here has a route of this path, so it was taken for an S3 request, which must be signed."
            )
        }
        try Self.checkEverythingIsSigned(headers, signature)
        let token = headers.value(of: .amzSecurityToken) ?? query["X-Amz-Security-Token"]
        let (principal, key, _) = try await credentials.resolve(signature.scope, sessionToken: token)
        try checkTime(of: signature)
        let declared = headers.value(of: .amzContentSHA256) ?? query["X-Amz-Content-Sha256"]
        if signature.placement == .header, declared == nil {
            throw S3Error.invalidRequest("Missing required header for this request: x-amz-content-sha256")
        }
        let payloadWord = declared ?? S3Payload.unsignedWord
        guard signature.isValid(for: message, payloadHash: payloadWord, key: key) else {
            throw S3Error.signatureDoesNotMatch(
                settings.explainsSignatures ? signature.signed(message, payloadHash: payloadWord) : nil)
        }
        credentials.remember(key, for: signature.scope)
        let caller = VerifiedS3Request(
            principal: principal, payload: try S3Payload(payloadWord), isPresigned: signature.placement != .header,
            chunkSignatures: SigV4ChunkSignatures(signature, key: key), noteObject: context.noteObject
        )
        return (caller, signature.scope.region)
    }

    /// Checks a declared payload hash against an operation's body, which should be empty: the hash was signed.
    func checkEmptiness(of request: Request, _ caller: VerifiedS3Request, _ context: ScribeContext) async throws {
        guard case .signed(let sha256) = caller.payload else { return }
        let body: LargeInput<ByteBuffer>
        do {
            body = try await request.collectedBody(upTo: 16 << 10, in: context)
        } catch HTTPProblem.bodyTooLarge {
            throw S3Error.invalidRequest("This operation takes no body.")
        }
        guard await body.read({ Array(SHA256.hash(data: Data($0.readableBytesView))) }) == sha256 else {
            throw S3Error.contentSHA256Mismatch
        }
    }

    /// Number of headers up to which a pass over all is faster than their index.
    private static let fewHeaders = 40

    /// Requires that all `x-amz-` headers are signed: one added later would be trusted without proof.
    private static func checkEverythingIsSigned(_ headers: HTTPFields, _ signature: SigV4) throws(S3Error) {
        for field in headers where field.name.canonicalName.hasPrefix("x-amz-") {
            guard field.name == .amzContentSHA256 || signature.signs(field.name.canonicalName) else {
                throw .accessDenied("There were headers present in the request which were not signed")
            }
        }
    }

    private func checkTime(of signature: SigV4) throws(S3Error) {
        guard let date = signature.date else { throw .accessDenied("The date is not valid") }
        let age = clock.wall.now.timeIntervalSince(date)
        switch signature.placement {
        case .header:
            guard abs(age) <= Self.skewLimit else { throw .requestTimeTooSkewed }
        case .query(let expires):
            guard age >= -Self.skewLimit else { throw .accessDenied("Request is not yet valid") }
            guard age <= Double(expires) else { throw .accessDenied("Request has expired") }
        }
    }
}
