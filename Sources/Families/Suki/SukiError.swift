import HTTPTypes
import ScribeHTTP

/// Errors of Suki's API: an id that never changes, and an optional detail (suki.md 1.2). All of them are here.
struct SukiError: Error, Hashable, Sendable, CustomStringConvertible {
    let status: HTTPResponse.Status
    let id: String
    let detail: String?
    let headers: HTTPFields

    private init(
        _ status: HTTPResponse.Status, _ id: String, _ detail: String? = nil, headers: HTTPFields = [:]
    ) {
        self.status = status
        self.id = id
        self.detail = detail
        self.headers = headers
    }

    /// The id alone, for logs: the detail may quote a client.
    var description: String { id }

    static let alreadyRegistered = SukiError(.conflict, "provider_already_registered")
    static let invalidPartnerToken = SukiError(.unauthorized, "invalid_partner_token", "token validation failed")
    static let keysUnreachable = SukiError(
        .badGateway, "partner_jwks_unreachable", "the partner's keys cannot be fetched")
    static let keysUnusable = SukiError(.badGateway, "partner_jwks_unusable", "the partner's keys are no JWK set")
    static let organisationNotPermitted = SukiError(
        .forbidden, "sbac_denied", "the organisation is not open to this partner")
    static let wrongHash = SukiError(
        .badRequest, "invalid_encryption_hash", "it is not the SHA-256 of the body, in 64 hex digits")
    static let notRegistered = SukiError(
        .unauthorized, "provider_not_registered", "register the clinician, and log in again")
    static let tooManyProviders = SukiError(
        .unprocessableContent, "provider_limit_exceeded", "the partner has as many clinicians as it may")
    static let noProviderHeader = SukiError(
        .badRequest, "missing_sdp_provider_id_header", "one token serves many clinicians: say for whom")
    static let invalidProvider = SukiError(.badRequest, "invalid_sdp_provider_id", "is no clinician's id")
    static let invalidAmbientID = SukiError(
        .badRequest, "invalid_ambient_id_format", "ambient_session_id must be a UUID")
    static let encounterNotFound = SukiError(.notFound, "encounter_not_found")
    static let recordingNotReady = SukiError(
        .notFound, "recording_not_ready", "the session was not ended yet, or is still worked on")
    static let recordingExpired = SukiError(.gone, "recording_expired", "recordings are kept for seven days")
    static let recordingNotFound = SukiError(.notFound, "recording_not_found", "the session has no audio")
    static let unknownLink = SukiError(.forbidden, "permission_denied", "the link is expired, or leads nowhere")

    static func invalidRequest(_ detail: String) -> SukiError { SukiError(.badRequest, "invalid_request", detail) }

    /// - Parameter size: of the recording, in bytes.
    static func rangeNotSatisfiable(_ size: Int) -> SukiError {
        SukiError(
            .rangeNotSatisfiable, "invalid_range", "no byte of the recording is in it",
            headers: [.contentRange: "bytes */\(size)"])
    }

    static let unsupportedEntity = SukiError(
        .badRequest, "unsupported_feedback_entity", "feedback is taken on content only")
    static let upgradeRequired = SukiError(.upgradeRequired, "invalid_request", "this is a WebSocket")
}
