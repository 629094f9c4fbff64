import Basics
import Hummingbird
import ScribeDomain
import ScribeHTTP

/// `/api/v1/auth/…` registers clinicians and logs them in; also serves the token signing keys (suki.md section 2).
struct AuthRoutes: Sendable {
    let clinicians: Clinicians
    /// The tokens of any world.
    let tokens: @Sendable (World) -> SukiTokens

    private struct LoginBody: Decodable {
        let partner: String
        let token: String
        let provider: String?

        enum CodingKeys: String, CodingKey {
            case partner = "partner_id"
            case token = "partner_token"
            case provider = "provider_id"
        }

        var login: Clinicians.Login { .init(partner: partner, token: token, provider: provider) }
    }

    private struct RegisterBody: Decodable {
        let name: String
        let organisation: String
        let specialty: String?

        enum CodingKeys: String, CodingKey {
            case name = "provider_name"
            case organisation = "provider_org_id"
            case specialty = "provider_specialty"
        }
    }

    private struct Registration: Decodable {
        let login: LoginBody
        let body: RegisterBody

        init(from decoder: any Decoder) throws {
            login = try LoginBody(from: decoder)
            body = try RegisterBody(from: decoder)
        }
    }

    private static let alreadyRegistered = SukiError(.conflict, "provider_already_registered")

    static func add(to router: WorldRoutes<Self>) {
        router.post("api/v1/auth/register", use: register)
        router.post("api/v1/auth/login", use: logIn)
        router.get("api/auth/.well-known/jwks-pub.json", use: keys)
    }

    /// Registers a clinician, and answers without a body. The required name is not stored.
    @Sendable private func register(_ request: Request, _ context: ScribeContext) async throws -> Response {
        let registration: Registration = try await request.decodeJSON(in: context)
        let body = registration.body
        for (name, value) in [("provider_name", body.name), ("provider_org_id", body.organisation)] {
            guard !value.isEmpty, value.isPlain, value.utf8.count <= 255 else {
                throw ScribeError.invalidRequest(field: name, problem: "must have 1 to 255 characters")
            }
        }
        var specialty = AmbientSpecialty.defaultCodes
        if let wanted = body.specialty {
            guard let known = AmbientSpecialty.named(wanted) else {
                throw ScribeError.invalidRequest(field: "provider_specialty", problem: "is not a known specialty")
            }
            specialty = known
        }
        let isNew = try await clinicians.register(
            registration.login.login, organisation: body.organisation, specialty: specialty)
        guard isNew else { throw Self.alreadyRegistered }
        return Response(status: .created)
    }

    @Sendable private func logIn(_ request: Request, _ context: ScribeContext) async throws -> Response {
        let body: LoginBody = try await request.decodeJSON(in: context)
        var response = Response.json(.ok, ["suki_token": .string(try await clinicians.logIn(body.login))])
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
