import Basics
import Engines
import Foundation
import HTTPTypes
import ScribeDomain
import ScribeHTTP
import ScribeRuntime
import ScribeStore

/// Registers clinicians of partners, logs them in, and resolves the clinician of a request.
struct Clinicians: Sendable {
    let runtime: Runtime
    let tokens: SukiTokens
    let partners: KnownPartners
    let tokenVerifier: PartnerTokenVerifier
    let clients: KnownClients
    let mode: AuthMode

    /// Login of a clinician by a partner's token.
    struct Login: Decodable {
        let partner: String
        let token: String
        /// The clinician's id, for partners whose one token serves many.
        let provider: String?

        private enum CodingKeys: String, CodingKey {
            case partner = "partner_id"
            case token = "partner_token"
            case provider = "provider_id"
        }
    }

    /// Registers a clinician.
    /// - Returns: false if already registered.
    /// - Throws: ``SukiError``.
    func register(_ login: Login, organisation: String, specialty: String) async throws -> Bool {
        let (partner, subject) = try await identify(login)
        if mode == .strict, !partner.organisations.isEmpty, !partner.organisations.contains(organisation) {
            throw SukiError.organisationNotPermitted
        }
        let provider = Provider(
            partner: partner.id, subject: subject, user: UserID("prv_\(runtime.identifiers.uuid(.user))"),
            organisation: organisation, specialty: specialty)
        switch try await runtime.store.accounts.register(provider, at: runtime.clock.now) {
        case .registered: return true
        case .known: return false
        case .tooMany: throw SukiError.tooManyProviders
        }
    }

    /// Logs a clinician in.
    /// - Returns: The access token (`suki_token`) for further requests.
    /// - Throws: ``SukiError``.
    func logIn(_ login: Login) async throws -> String {
        let (partner, subject) = try await identify(login)
        guard let provider = try await runtime.store.accounts.provider(subject, of: partner.id) else {
            throw SukiError.notRegistered
        }
        return try await tokens.issue(to: provider.user, of: partner.id)
    }

    private func identify(_ login: Login) async throws -> (Partner, subject: String) {
        guard let partner = partners[login.partner], let client = clients[partner.client] else {
            throw SukiError.invalidRequest("there is no such partner")
        }
        let subject = try await tokenVerifier.subject(
            of: login.token, from: partner, of: client.principal.business, isStrict: mode == .strict)
        guard partner.isBearer else { return (partner, subject) }
        guard let provider = login.provider else {
            throw SukiError.invalidRequest("provider_id is required of this partner")
        }
        guard Self.isProvider(provider) else { throw SukiError.invalidProvider }
        return (partner, provider)
    }

    func principal(in headers: HTTPFields) async throws -> Principal {
        try await principal(of: headers.value(of: .sukiToken), for: headers.value(of: .sukiProvider))
    }

    /// Resolves the clinician that a request acts for.
    /// - Parameter provider: The clinician's id, for partners whose one token serves many.
    /// - Throws: ``HTTPProblem/unauthenticated(reason:)``, ``SukiError``.
    func principal(of token: String?, for provider: String?) async throws -> Principal {
        guard let token, !token.isEmpty else {
            guard mode == .open else { throw HTTPProblem.unauthenticated(reason: "no token was sent") }
            return clients.demoPrincipal
        }
        let claims = try await tokens.claims(of: token)
        guard let partner = partners[claims.partner], let client = clients[partner.client]?.principal
        else { throw HTTPProblem.unauthenticated(reason: "its partner is not known any more") }
        var user = UserID(claims.sub)
        if partner.isBearer {
            guard let provider, !provider.isEmpty else { throw SukiError.noProviderHeader }
            guard Self.isProvider(provider) else { throw SukiError.invalidProvider }
            guard let known = try await runtime.store.accounts.provider(provider, of: partner.id) else {
                throw SukiError.notRegistered
            }
            user = known.user
        }
        return Principal(
            business: client.business, user: user, doctor: DoctorID(user.rawValue), client: client.client)
    }

    private static func isProvider(_ text: String) -> Bool {
        (1...255).contains(text.utf8.count)
            && text.utf8.allSatisfy { $0.isInIdentifier || ".@:|".utf8.contains($0) }
    }
}
