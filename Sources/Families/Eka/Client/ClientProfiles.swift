import HTTPTypes
import Hummingbird
import ScribeDomain
import ScribeHTTP

/// Which client a request comes from: what the configuration says of its client id, then what the request says.
struct ClientProfiles: Sendable {
    let fidelity: Fidelity
    /// By client id.
    let overrides: [String: ClientProfile]

    /// nil when neither is known of it.
    func known(_ request: Request, _ context: ScribeContext) -> ClientProfile? {
        if fidelity == .documentation { return .documented }
        if !overrides.isEmpty {
            let ids = [request.headers[.clientID], context.principal?.client.rawValue]
            if let profile = ids.compactMap(\.self).compactMap({ overrides[$0] }).first { return profile }
        }
        return .named(flavour: request.headers[.flavour], userAgent: request.headers[.userAgent])
    }

    /// Before what renders errors, for calls whose refusals some clients read as texts.
    var errorTexts: ErrorTexts { ErrorTexts(profiles: self) }

    func profile(of request: Request, _ context: ScribeContext) -> ClientProfile {
        known(request, context) ?? .generic
    }
}

/// Notes of a request how its client reads errors.
struct ErrorTexts: RouterMiddleware {
    typealias Context = ScribeContext

    let profiles: ClientProfiles

    func handle(
        _ request: Request, context: ScribeContext, next: @concurrent (Request, ScribeContext) async throws -> Response
    ) async throws -> Response {
        var context = context
        context.errorIsText = profiles.profile(of: request, context).readsErrorAsText
        return try await next(request, context)
    }
}
