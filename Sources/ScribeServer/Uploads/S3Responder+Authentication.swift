import Foundation
import HTTPTypes
import Hummingbird
import ScribeDomain

/// What the signature says about the body.
enum S3Payload: Hashable, Sendable {
    /// `UNSIGNED-PAYLOAD`.
    case unsigned
    /// Lower-case hex of the SHA-256 that the body must have.
    case signed(sha256: String)
}

extension S3Responder {
    private static let unsignedPayload = "UNSIGNED-PAYLOAD"

    /// Verifies the signature against the received host, path and query. Accepting any would be easier, and would let
    /// a client pass here that AWS refuses.
    func authenticate(_ request: Request) async throws -> (Principal, S3Payload) {
        let headers = request.headers
        let authority = request.head.authority ?? ""
        let message = SigV4.Message(
            method: request.method.rawValue, path: request.uri.path, query: request.uri.query ?? "",
            header: { name in
                if name == "host" { return authority }
                let values = HTTPField.Name(name).map { headers[values: $0] } ?? []
                return values.isEmpty ? nil : values.joined(separator: ",")
            }
        )
        guard let signature = try SigV4.read(from: message) else {
            throw S3Error.accessDenied(
                "No route of the scribe API has this path, so it was taken for an S3 request, which must be signed."
            )
        }
        let query = SigV4Query(message.query)
        let token = headers[.amzSecurityToken] ?? query?["X-Amz-Security-Token"]
        let (principal, secret) = try await credentials.resolve(
            accessKeyID: signature.scope.accessKeyID, sessionToken: token
        )
        try checkTime(of: signature)
        let declared = headers[.amzContentSHA256] ?? query?["X-Amz-Content-Sha256"]
        if signature.placement == .header, declared == nil {
            throw S3Error.invalidRequest("Missing required header for this request: x-amz-content-sha256")
        }
        let payloadHash = declared ?? Self.unsignedPayload
        guard signature.isValid(for: message, payloadHash: payloadHash, secret: secret) else {
            throw S3Error.signatureDoesNotMatch
        }
        if payloadHash == Self.unsignedPayload { return (principal, .unsigned) }
        if payloadHash.hasPrefix("STREAMING-") {
            throw S3Error.notImplemented("A body signed in chunks is not supported yet: \(payloadHash)")
        }
        guard Hex.decode(payloadHash)?.count == 32 else {
            throw S3Error.invalidRequest("x-amz-content-sha256 must be UNSIGNED-PAYLOAD or a valid sha256 value.")
        }
        return (principal, .signed(sha256: payloadHash.lowercased()))
    }

    private func checkTime(of signature: SigV4) throws(S3Error) {
        guard let date = signature.date else { throw .accessDenied("The date is not valid") }
        let age = clock.now.timeIntervalSince(date)
        switch signature.placement {
        case .header:
            guard abs(age) <= Self.skewLimit else { throw .requestTimeTooSkewed }
        case .query(let expires):
            guard age >= -Self.skewLimit else { throw .accessDenied("Request is not yet valid") }
            guard age <= Double(expires) else { throw .accessDenied("Request has expired") }
        }
    }
}
