package import Foundation

/// A speech service and what it needs to be told.
package struct SpeechService: Sendable {
    /// Where it is, for example `http://127.0.0.1:9000/v1`.
    package var baseURL: URL
    package var key: String?
    /// The models that stand for `pro` and `lite`; nil leaves the choice to the service, or to the adapter.
    package var model: String?
    package var liteModel: String?
    /// What the recogniser is to expect: words, separated by commas, or a sentence.
    package var prompt: String?
    package var trust: OutboundTrust

    package init(
        baseURL: URL, key: String? = nil, model: String? = nil, liteModel: String? = nil, prompt: String? = nil,
        trust: OutboundTrust = .machine
    ) {
        self.trust = trust
        self.baseURL = baseURL
        self.key = key
        self.model = model
        self.liteModel = liteModel
        self.prompt = prompt
    }

    /// Deepgram's endpoint, whether or not the base ends with the version.
    var listenURL: URL {
        baseURL.appending(path: baseURL.lastPathComponent == "v1" ? "listen" : "v1/listen")
    }

    /// The model for a recording.
    func model(for recording: Recording) -> String? { recording.isLite ? liteModel ?? model : model }
}
