import Basics
import Hummingbird
import ScribeDomain
import ScribeHTTP

/// `GET /v1/auth/token` tells whether a key is valid. `POST /v1/auth/grant` issues a short-lived token for a browser to
/// the owner of an API key (streaming.md 1.2).
struct ListenGrantRoutes: Sendable {
    private static let usualLifetime = 30
    private static let lifetimes = 1...3600

    let authentication: ListenAuthentication

    static func add(to router: WorldRoutes<Self>) {
        router.post("v1/auth/grant", use: grant)
        router.get("v1/auth/token", use: describeKey)
    }

    private struct Body: Decodable {
        let lifetime: JSONValue?

        enum CodingKeys: String, CodingKey { case lifetime = "ttl_seconds" }
    }

    /// The lifetime in seconds; nil for an invalid value. The SDK sends a fraction, `60.0`.
    private static func lifetime(_ value: JSONValue?) -> Int? {
        switch value {
        case nil, .null: usualLifetime
        case let value?: value.numberValue.flatMap { Int(exactly: $0) }.flatMap { lifetimes.contains($0) ? $0 : nil }
        }
    }

    @Sendable private func grant(_ request: Request, _ context: ScribeContext) async throws -> Response {
        // Checked before the body is read: only key owners may send one.
        let keyOwner = try authentication.keyOwner(ListenCredentials(request.headers))
        let body = try await request.decodeOptionalJSON(as: Body.self, in: context)
        guard let lifetime = Self.lifetime(body?.lifetime) else {
            throw ScribeError.invalidRequest(field: "ttl_seconds", problem: "must be a number from 1 to 3600")
        }
        let token = try authentication.grant(to: keyOwner, lifetime: lifetime)
        var response = Response.json(.ok, ["access_token": .string(token), "expires_in": .integer(lifetime)])
        response.headers[.cacheControl] = "no-store"
        return response
    }

    /// Describes the caller's key. Clients look at the status; the vendor documents no members.
    @Sendable private func describeKey(_ request: Request, _ context: ScribeContext) async throws -> Response {
        let credentials = ListenCredentials(request.headers)
        let principal = try await authentication.principal(credentials)
        context.noteCaller(principal)
        return .json(
            .ok,
            [
                "api_key_id": .string(ListenCallback.identifier(of: credentials.key ?? "")),
                "scopes": .array(["usage:write"], JSON.string),
            ])
    }
}
