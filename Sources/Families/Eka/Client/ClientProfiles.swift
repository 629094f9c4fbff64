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

    /// The middleware of stop and commit, whose refusals the Android SDK reads as texts (C-27).
    var errorTexts: ErrorTexts { ErrorTexts(profiles: self) }

    func profile(of request: Request, _ context: ScribeContext) -> ClientProfile {
        known(request, context) ?? .generic
    }
}

/// Renders refusals for clients that read `error` as a text (C-27); other clients' pass on to what renders them all.
struct ErrorTexts: RouterMiddleware {
    typealias Context = ScribeContext

    let profiles: ClientProfiles
    private let rendering = ErrorRendering(EkaErrors(asText: true))

    init(profiles: ClientProfiles) { self.profiles = profiles }

    func handle(
        _ request: Request, context: ScribeContext, next: @concurrent (Request, ScribeContext) async throws -> Response
    ) async throws -> Response {
        guard profiles.profile(of: request, context).readsErrorAsText else { return try await next(request, context) }
        return try await rendering.handle(request, context: context, next: next)
    }
}
