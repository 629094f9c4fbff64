import HTTPTypes
import Hummingbird
import ScribeHTTP

/// `GET /voice/v1/.well-known/medscribealliance`: what the server can do (medscribe.md 1.6). Public.
struct DiscoveryRoute: Sendable {
    let origin: LinkOrigin

    func add(to router: RouterGroup<ScribeContext>) {
        router.get("voice/v1/.well-known/medscribealliance", use: discover)
    }

    @Sendable private func discover(_ request: Request, _ context: ScribeContext) async throws -> Response {
        var response = try Response.json(.ok, Discovery(base: origin.base(of: request, context)))
        response.headers[.cacheControl] = "max-age=10800"
        return response
    }
}

/// No member is null: those that are not known are left out.
private struct Discovery: Encodable {
    struct Service: Encodable {
        let name = "scribe-emulator"
    }

    struct Endpoints: Encodable {
        let base: String
        let webhooks = "/voice/v1/webhooks"
        let templates = "/voice/api/v1/template"

        enum CodingKeys: String, CodingKey {
            case base = "base_url"
            case webhooks = "webhooks_url"
            case templates = "templates_url"
        }
    }

    struct Methods: Encodable {
        let supported = ["api_key", "oidc"]

        enum CodingKeys: String, CodingKey {
            case supported = "supported_methods"
        }
    }

    struct Capabilities: Encodable {
        let formats = [
            "audio/webm;codecs=opus", "audio/wav", "audio/ogg", "audio/ogg;codecs=opus", "audio/mp4", "audio/m4a",
            "audio/mp3",
        ]
        /// In seconds; the web SDK cuts by it.
        let chunkDuration = 20
        let uploadMethods = ["chunked", "single", "stream"]
        let deliversWebhooks = true
        let deliversToClients = true
        let storage = "aws"
        let storages = ["aws"]

        enum CodingKeys: String, CodingKey {
            case formats = "audio_formats"
            case chunkDuration = "max_chunk_duration_seconds"
            case uploadMethods = "upload_methods"
            case deliversWebhooks = "webhook_delivery"
            case deliversToClients = "client_sdk_delivery"
            case storage = "storage_provider"
            case storages = "storage_providers"
        }
    }

    struct Model: Encodable {
        struct Features: Encodable {
            let isRealTime = false
            let tellsSpeakers = false
            let hasTemplates = true

            enum CodingKeys: String, CodingKey {
                case isRealTime = "realtime_transcription"
                case tellsSpeakers = "speaker_diarization"
                case hasTemplates = "custom_templates"
            }
        }

        let id: String
        let name: String
        let languages = Languages().supported
        /// In seconds.
        let longest: Int
        let speed: String
        let features = Features()

        enum CodingKeys: String, CodingKey {
            case id, languages, features
            case name = "display_name"
            case longest = "max_session_duration_seconds"
            case speed = "response_speed"
        }
    }

    struct Languages: Encodable {
        let supported = [
            "auto_detect", "en", "hi", "gu", "kn", "ml", "ta", "te", "bn", "mr", "pa", "or", "as", "en-IN", "en-US",
            "en-hi",
        ]
        let detects = true

        enum CodingKeys: String, CodingKey {
            case supported
            case detects = "auto_detection"
        }
    }

    let name = "medscribealliance"
    let version = "0.1"
    let versions = ["0.1"]
    let service = Service()
    let endpoints: Endpoints
    let authentication = Methods()
    let capabilities = Capabilities()
    let models = [
        Model(id: "lite", name: "Lite", longest: 600, speed: "fast"),
        Model(id: "pro", name: "Pro", longest: 3600, speed: "standard"),
    ]
    let languages = Languages()

    enum CodingKeys: String, CodingKey {
        case service, endpoints, authentication, capabilities, models, languages
        case name = "protocol"
        case version = "protocol_version"
        case versions = "supported_versions"
    }

    init(base: String) { endpoints = Endpoints(base: "\(base)/voice/v1") }
}
