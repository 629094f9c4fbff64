package import HTTPTypes
import ScribeHTTP

/// Header names that only Suki's API uses (suki.md 1.1, 4).
extension HTTPField.Name {
    package static let sukiToken = named("sdp_suki_token")
    package static let sukiProvider = named("sdp_provider_id")
    package static let ambientSession = named("ambient_session_id")
    package static let startTime = named("x-start-time")
    package static let encryptionHash = named("x-encryption-hash")
}
