import Basics
import Hummingbird
import ScribeDomain
import ScribeHTTP

/// `/api/v1/auth/…` registers clinicians and logs them in; also serves the token signing keys (suki.md section 2).
struct AuthRoutes: Sendable {
    let clinicians: Clinicians
    /// The tokens of any world.
    let tokens: @Sendable (World) -> SukiTokens

    private struct Registration: Decodable {
        let login: Clinicians.Login
        let name: String
        let organisation: String
        let specialty: String?

        enum CodingKeys: String, CodingKey {
            case name = "provider_name"
            case organisation = "provider_org_id"
            case specialty = "provider_specialty"
        }

        init(from decoder: any Decoder) throws {
            login = try Clinicians.Login(from: decoder)
            let body = try decoder.container(keyedBy: CodingKeys.self)
            name = try body.decode(String.self, forKey: .name)
            organisation = try body.decode(String.self, forKey: .organisation)
            specialty = try body.decodeIfPresent(String.self, forKey: .specialty)
        }
    }

    static func add(to router: WorldRoutes<Self>) {
        router.post("api/v1/auth/register", use: register)
        router.post("api/v1/auth/login", use: logIn)
        router.get("api/auth/.well-known/jwks-pub.json", use: keys)
    }

    /// Registers a clinician, and answers without a body. The required name is not stored.
    @Sendable private func register(_ request: Request, _ context: ScribeContext) async throws -> Response {
        let body: Registration = try await request.decodeJSON(in: context)
        for (name, value) in [("provider_name", body.name), ("provider_org_id", body.organisation)] {
            guard !value.isEmpty, value.isPlain, value.utf8.count <= 255 else {
                throw ScribeError.invalidRequest(field: name, problem: "must have 1 to 255 characters")
            }
        }
        let isNew = try await clinicians.register(
            body.login, organisation: body.organisation, specialty: try AmbientSpecialty.chosen(body.specialty))
        guard isNew else { throw SukiError.alreadyRegistered }
        return Response(status: .created)
    }

    @Sendable private func logIn(_ request: Request, _ context: ScribeContext) async throws -> Response {
        let login: Clinicians.Login = try await request.decodeJSON(in: context)
        var response = Response.json(.ok, ["suki_token": .string(try await clinicians.logIn(login))])
        response.headers[.cacheControl] = "no-store"
        return response
    }

    /// Lists the public keys. Under a compiled-in host no request can name a namespace here, so the default world lists
    /// the keys of all namespaces too.
    @Sendable private func keys(_ request: Request, _ context: ScribeContext) async throws -> Response {
        var keys = [try await clinicians.tokens.publicKey()]
        if context.world.namespace == nil {
            for world in context.directory?.worlds.dropFirst() ?? [] {
                if let key = try? await tokens(world).publicKey(makes: false) { keys.append(key) }
            }
        }
        return .json(.ok, ["keys": .array(keys)])
    }
}
