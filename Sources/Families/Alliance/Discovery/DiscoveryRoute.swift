import Basics
import HTTPTypes
import Hummingbird
import ScribeHTTP

/// `GET /voice/v1/.well-known/medscribealliance`: the server's capabilities, without a token (medscribe.md 1.6).
struct DiscoveryRoute: Sendable {
    let origin: LinkOrigin

    static func add(to router: WorldRoutes<Self>) {
        router.get("voice/v1/.well-known/medscribealliance", use: discover)
    }

    @Sendable private func discover(_ request: Request, _ context: ScribeContext) async throws -> Response {
        var response = Response.json(.ok, Self.document(at: "\(origin.base(of: request, context))/voice/v1"))
        response.headers[.cacheControl] = "max-age=10800"
        return response
    }

    /// The discovery document. Unknown members are left out; none is null.
    private static func document(at base: String) -> JSON {
        [
            "protocol": "medscribealliance", "protocol_version": "0.1", "supported_versions": ["0.1"],
            "service": ["name": "scribe-emulator"],
            "endpoints": [
                "base_url": .string(base), "webhooks_url": "/voice/v1/webhooks",
                "templates_url": "/voice/api/v1/template",
            ],
            "authentication": ["supported_methods": ["api_key", "oidc"]],
            "capabilities": [
                "audio_formats": [
                    "audio/webm;codecs=opus", "audio/wav", "audio/ogg", "audio/ogg;codecs=opus", "audio/mp4",
                    "audio/m4a", "audio/mp3",
                ],
                // The web SDK cuts its chunks at this length.
                "max_chunk_duration_seconds": 20,
                "upload_methods": ["chunked", "single", "stream"], "webhook_delivery": true,
                "client_sdk_delivery": true, "storage_provider": "aws", "storage_providers": ["aws"],
            ],
            "models": [model("lite", "Lite", seconds: 600, "fast"), model("pro", "Pro", seconds: 3600, "standard")],
            "languages": ["supported": languages, "auto_detection": true],
        ]
    }

    /// - Parameter seconds: Longest session of the model.
    private static func model(_ id: String, _ name: String, seconds: Int, _ speed: String) -> JSON {
        [
            "id": .string(id), "display_name": .string(name), "languages": languages,
            "max_session_duration_seconds": .integer(seconds), "response_speed": .string(speed),
            "features": ["realtime_transcription": false, "speaker_diarization": false, "custom_templates": true],
        ]
    }

    private static let languages = JSON.array(SessionLanguage.listed, JSON.string)
}
