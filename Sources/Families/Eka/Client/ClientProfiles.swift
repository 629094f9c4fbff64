import HTTPTypes
import Hummingbird
import ScribeDomain
import ScribeHTTP

/// Chooses the SDK profile of a request: by the client id's configuration, else by the request's headers.
struct ClientProfiles: Sendable {
    let fidelity: Fidelity
    /// Configured profiles by client id.
    let overrides: [String: ClientProfile]

    /// The profile of a known SDK; nil if neither client id, flavour nor User-Agent is known.
    func known(_ request: Request, _ context: ScribeContext) -> ClientProfile? {
        if fidelity == .documentation { return .documented }
        if !overrides.isEmpty {
            let ids = [request.headers[.clientID], context.principal?.client.rawValue]
            if let profile = ids.compactMap(\.self).compactMap({ overrides[$0] }).first { return profile }
        }
        return .named(flavour: request.headers[.flavour], userAgent: request.headers[.userAgent])
    }

    /// Middleware for stop and commit, whose errors the Android SDK reads as texts (C-27).
    var errorTexts: ErrorTexts { ErrorTexts(profiles: self) }

    func profile(of request: Request, _ context: ScribeContext) -> ClientProfile {
        known(request, context) ?? .generic
    }
}

/// Renders errors for SDKs that read `error` as a text (C-27). Errors of other SDKs pass on to the outer middleware.
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
