import HTTPTypes
import Hummingbird
import ScribeDomain
import ScribeHTTP

/// Chooses the SDK profile of a request: by the client id's configuration, else by the request's headers.
struct ClientProfiles: Sendable {
    /// Whether answers follow the vendor's documentation, for every SDK.
    let isStrict: Bool
    /// Configured profiles by client id.
    let overrides: [String: ClientProfile]

    /// The profile of a known SDK; nil if neither client id, flavour nor User-Agent is known.
    func known(_ request: Request, _ context: ScribeContext) -> ClientProfile? {
        if isStrict { return .documented }
        if !overrides.isEmpty {
            let ids = [request.headers.value(of: .clientID), context.principal?.client.rawValue]
            if let profile = ids.compactMap(\.self).compactMap({ overrides[$0] }).first { return profile }
        }
        return .named(flavour: request.headers.value(of: .flavour), userAgent: request.headers.value(of: .userAgent))
    }

    /// Error table of stop and commit: the Android SDK reads their errors as texts (C-27).
    func errorsOfStop(_ request: Request, _ context: ScribeContext) -> any ErrorTable {
        EkaErrors(asText: profile(of: request, context).readsErrorAsText)
    }

    func profile(of request: Request, _ context: ScribeContext) -> ClientProfile {
        known(request, context) ?? .generic
    }
}
