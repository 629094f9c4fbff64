import Basics
import Foundation
package import NIOPosix
package import ScribeDomain

/// Transcriber on OpenAI's `POST /audio/transcriptions` and compatible services, such as
/// faster-whisper-server and whisper.cpp.
package struct OpenAITranscriber: Transcriber {
    package let name = "openai"
    private let service: SpeechService
    private let client: ServiceClient
    private let temporary: TemporaryFiles
    private let files: NIOThreadPool
    /// Models for which the service refused word times; later requests do not ask them for times.
    private let plainModels = LockedValue<Set<String>>([])

    /// Model for requests if the configuration names none; local services accept any name.
    private static let usualModel = "whisper-1"
    /// Longest prompt, in characters.
    private static let longestPrompt = 600

    package init(
        service: SpeechService, client: ServiceClient, temporary: TemporaryFiles, files: NIOThreadPool
    ) {
        self.service = service
        self.client = client
        self.temporary = temporary
        self.files = files
    }

    /// Probes with the list of models, which is free of charge.
    package func probe() async -> FailedProbe? {
        await client.probe(
            service.baseURL.appendingPathComponent("models"),
            service.settings.key.map { [("Authorization", "Bearer \($0)")] } ?? [])
    }

    package func transcribe(_ recording: Recording) async throws -> RecognisedSpeech {
        let format = try await recording.audio.read(on: files) { try AudioFormat(reading: $0) }
        let model = service.model(for: recording) ?? Self.usualModel
        if !plainModels.withLock({ $0.contains(model) }) {
            let answer = try await ask(recording, format, model, "verbose_json")
            // Newer models refuse the `verbose_json` format, not the audio.
            if answer.status != 400 && answer.status != 422 { return try speech(in: answer) }
            let plain = try await ask(recording, format, model, "json")
            let speech = try speech(in: plain)
            plainModels.withLock { _ = $0.insert(model) }
            return speech
        }
        return try speech(in: try await ask(recording, format, model, "json"))
    }

    private func ask(
        _ recording: Recording, _ format: AudioFormat, _ model: String, _ responseFormat: String
    ) async throws -> ServiceClient.Answer {
        var fields = [("model", model), ("response_format", responseFormat)]
        if responseFormat == "verbose_json" {
            fields += [("timestamp_granularities[]", "word"), ("timestamp_granularities[]", "segment")]
        }
        // With two languages the service detects the spoken one itself.
        if recording.languages.count == 1 { fields.append(("language", recording.languages[0].isoLanguage)) }
        let prompt = try await prompt(for: recording)
        if !prompt.isEmpty { fields.append(("prompt", prompt)) }
        let body = FormBody(
            fields: fields, fileName: "audio.\(format.container.rawValue)", contentType: format.container.contentType)
        let url = service.baseURL.appendingPathComponent("audio/transcriptions")
        var headers = [("Content-Type", "multipart/form-data; boundary=\(FormBody.boundary)")]
        if let key = service.settings.key { headers.append(("Authorization", "Bearer \(key)")) }
        return try await temporary.use(extension: "form") { [headers] path in
            try await recording.withLocalFile { audio in
                try await files.runIfActive { try body.write(fileAt: audio, to: path) }
            }
            return try await client.post(url, headers, file: path)
        }
    }

    /// Prompt of as many template words as fit, with the configured prompt last: the service uses the last 224 tokens.
    private func prompt(for recording: Recording) async throws -> String {
        let configured = service.settings.prompt ?? ""
        var length = configured.count
        let fitting = try await recording.vocabulary().prefix { word in
            length += word.count + 2
            return length <= Self.longestPrompt
        }
        return (fitting + [configured]).filter { !$0.isEmpty }.joined(separator: ", ")
    }

    private struct Answer: Decodable {
        struct Word: Decodable {
            let word: String
            let start: Double
            let end: Double
        }

        struct Segment: Decodable {
            let words: Tolerant<[Word]>?
            let text: String
            let start: Double?
            let end: Double?
            let silence: Double?
            let confidence: Double?

            enum CodingKeys: String, CodingKey {
                case words, text, start, end
                case silence = "no_speech_prob"
                case confidence = "avg_logprob"
            }

            /// Whether the text is invented during silence, by Whisper's own thresholds.
            var isInvented: Bool { silence ?? 0 > 0.6 && confidence ?? 0 < -1 }
        }

        let text: String
        /// Language as a name such as `english` (OpenAI) or as a tag (other services).
        let language: Tolerant<String>?
        // Optional members: a wrong type in one of them must not lose the text.
        let words: Tolerant<[Word]>?
        let segments: Tolerant<[Segment]>?
    }

    private func speech(in answer: ServiceClient.Answer) throws -> RecognisedSpeech {
        try answer.requireSuccess()
        if answer.contentType.hasPrefix("text/plain") {
            guard let text = String(validating: answer.body, as: UTF8.self) else { throw Self.unreadable }
            return RecognisedSpeech(text: text.cleaned)
        }
        guard let decoded = try? JSONDocument(answer.body).decode(Answer.self) else { throw Self.unreadable }
        let segments = decoded.segments?.value ?? []
        var words = decoded.words?.value ?? segments.flatMap { $0.words?.value ?? [] }
        var text = decoded.text
        let invented = segments.filter(\.isInvented)
        if !invented.isEmpty {
            text = segments.filter { !$0.isInvented }.map(\.text.cleaned).joined(separator: " ")
            words.removeAll { word in
                invented.contains { word.start >= $0.start ?? .infinity && word.end <= $0.end ?? -.infinity }
            }
        }
        let wordConfidence = segments.filter { !$0.isInvented }.compactMap(\.confidence).map { exp($0) }
        var speech = RecognisedSpeech(
            text: text.cleaned, words: words.map { TimedWord(text: $0.word.cleaned, start: $0.start, end: $0.end) },
            confidence: wordConfidence.isEmpty ? nil : wordConfidence.reduce(0, +) / Double(wordConfidence.count))
        speech.language = (decoded.language?.value).flatMap(WhisperLanguage.tag(for:))
        return speech
    }

    private static let unreadable = EngineFailure(
        .transcriptionFailed, "the service's answer is no transcription", isRetryable: true)
}

extension String {
    /// Text without NUL, at which the store would cut it, and without surrounding white space.
    var cleaned: String { replacing("\0", with: "").trimmingCharacters(in: .whitespacesAndNewlines) }

    /// Language code without region, as most services expect: `en` for `en-IN`.
    var isoLanguage: String { String(prefix { $0 != "-" && $0 != "_" }).lowercased() }
}
