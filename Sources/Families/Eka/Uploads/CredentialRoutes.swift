import Foundation
import Hummingbird
import ScribeDomain
import ScribeHTTP

/// `GET /credentials`, and the same under the name that newer web clients use (C-57, C-59).
struct CredentialRoutes: Sendable {
    let credentials: UploadCredentials

    func add(to router: RouterGroup<ScribeContext>) {
        router.get("credentials", use: issue)
        router.get("voice/api/v1/s3-token", use: issue)
    }

    private struct Body: Encodable {
        struct Keys: Encodable {
            let accessKeyID: String
            let secretKey: String
            let sessionToken: String
            let expiration: String

            enum CodingKeys: String, CodingKey {
                case accessKeyID = "AccessKeyId"
                case secretKey = "SecretKey"
                case sessionToken = "SessionToken"
                case expiration = "Expiration"
            }
        }

        let credentials: Keys
        let expiry: Int
        let identityID: String
        let token: String

        enum CodingKeys: String, CodingKey {
            case credentials, expiry, token
            case identityID = "identity_id"
        }
    }

    @Sendable private func issue(_ request: Request, context: ScribeContext) async throws -> Response {
        let principal = try context.requirePrincipal()
        let issued = try await credentials.issue(to: principal)
        return try .json(
            .ok,
            Body(
                credentials: .init(
                    accessKeyID: issued.accessKeyID, secretKey: issued.secretKey, sessionToken: issued.sessionToken,
                    expiration: issued.expiration.apiTime
                ),
                expiry: Int(credentials.lifetime), identityID: "ap-south-1:\(principal.user)",
                token: issued.sessionToken
            )
        )
    }
}
