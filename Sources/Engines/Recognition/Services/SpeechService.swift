package import Foundation
package import Outbound
import ScribeDomain

/// Configuration of a speech service: its address, and the settings.
package struct SpeechService: Sendable {
    /// Settings of a speech service, of either API.
    package struct Settings: Hashable, Sendable {
        package var key: String?
        /// Models for `pro` and `lite`; nil leaves the choice to the service or the adapter.
        package var model: String?
        package var liteModel: String?
        /// Text that the recogniser should expect: words separated by commas, or a sentence.
        package var prompt: String?
        /// Longest recording that the server sends in one piece.
        package var longest: Duration = .seconds(600)

        package init() {}
    }

    /// Base URL, for example `http://127.0.0.1:9000/v1`.
    package var baseURL: URL
    package var settings: Settings
    package var trust: OutboundTrust

    package init(baseURL: URL, settings: Settings = Settings(), trust: OutboundTrust = .system) {
        self.baseURL = baseURL
        self.settings = settings
        self.trust = trust
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
    func model(for recording: Recording) -> String? {
        recording.isLite ? settings.liteModel ?? settings.model : settings.model
    }
}
