package import Foundation
package import Outbound
import ScribeDomain

/// Configuration of a speech service: address, key, models and prompt.
package struct SpeechService: Sendable {
    /// Base URL, for example `http://127.0.0.1:9000/v1`.
    package var baseURL: URL
    package var key: String?
    /// Models for `pro` and `lite`; nil leaves the choice to the service or the adapter.
    package var model: String?
    package var liteModel: String?
    /// Text that the recogniser should expect: words separated by commas, or a sentence.
    package var prompt: String?
    package var trust: OutboundTrust

    package init(
        baseURL: URL, key: String? = nil, model: String? = nil, liteModel: String? = nil, prompt: String? = nil,
        trust: OutboundTrust = .system
    ) {
        self.trust = trust
        self.baseURL = baseURL
        self.key = key
        self.model = model
        self.liteModel = liteModel
        self.prompt = prompt
    }

    /// Deepgram's `listen` endpoint, whether or not the base URL ends with the version.
    func listenURL(_ query: [(String, String)]) throws -> URL {
        let endpoint = baseURL.appending(path: baseURL.lastPathComponent == "v1" ? "listen" : "v1/listen")
        var components = URLComponents(url: endpoint, resolvingAgainstBaseURL: false)
        components?.queryItems = query.map { URLQueryItem(name: $0.0, value: $0.1) }
        guard let url = components?.url else {
            throw EngineFailure(.transcriptionFailed, "the service has no address")
        }
        return url
    }

    /// Model for a recording.
    func model(for recording: Recording) -> String? { recording.isLite ? liteModel ?? model : model }
}
