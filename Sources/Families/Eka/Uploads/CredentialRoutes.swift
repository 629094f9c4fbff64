import Basics
import Foundation
import Hummingbird
import ScribeDomain
import ScribeHTTP

/// `GET /credentials` and `/voice/api/v1/s3-token`: issue S3 upload credentials (C-57; newer web clients: C-59).
struct CredentialRoutes: Sendable {
    let credentials: UploadCredentials

    static func add(to router: WorldRoutes<Self>) {
        router.get("credentials", use: issue)
        router.get("voice/api/v1/s3-token", use: issue)
    }

    @Sendable private func issue(_ request: Request, context: ScribeContext) async throws -> Response {
        let principal = try context.requirePrincipal()
        let issued = try await credentials.issue(to: principal)
        return .json(
            .ok,
            [
                "credentials": [
                    "AccessKeyId": .string(issued.accessKeyID), "SecretKey": .string(issued.secretKey),
                    "SessionToken": .string(issued.sessionToken), "Expiration": .string(issued.expiration.apiTime),
                ],
                "expiry": .integer(Int(credentials.lifetime)), "identity_id": "ap-south-1:\(principal.user)",
                "token": .string(issued.sessionToken),
            ])
    }
}
