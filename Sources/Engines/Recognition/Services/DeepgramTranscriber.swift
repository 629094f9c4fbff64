import Basics
import Foundation
package import NIOPosix
package import ScribeDomain

/// Transcriber on Deepgram's pre-recorded `POST /v1/listen` (streaming.md 1.8) and compatible services.
package struct DeepgramTranscriber: Transcriber {
    package let name = "deepgram"
    private let service: SpeechService
    private let client: ServiceClient
    private let files: NIOThreadPool

    /// Model for requests if the configuration names none.
    private static let usualModel = "nova-3-medical"
    /// Most hints in a request; the service accepts 500 tokens.
    private static let maxHints = 100
    /// Confidence below which the result carries a warning.
    private static let leastConfidence = 0.5

    package init(service: SpeechService, client: ServiceClient, files: NIOThreadPool) {
        self.service = service
        self.client = client
        self.files = files
    }

    /// Probes by opening a connection, because every API request costs money.
    package func probe() async -> FailedProbe? { await ServiceConnection(service).probe() }

    package func transcribe(_ recording: Recording) async throws -> RecognisedSpeech {
        let format = try await recording.audio.read(on: files) { try AudioFormat(reading: $0) }
        var query = [
            ("model", service.model(for: recording) ?? Self.usualModel), ("punctuate", "true"),
            ("smart_format", "true"), ("diarize", "true"), ("utterances", "true"),
        ]
        switch recording.languages.count {
        case 0: query.append(("detect_language", "true"))
        case 1: query.append(("language", recording.languages[0]))
        default: query.append(("language", "multi"))
        }
        query += try await hints(for: recording)
        let address = try service.listenURL(query)
        var headers = [("Content-Type", format.container.contentType)]
        if let key = service.settings.key { headers.append(("Authorization", "Token \(key)")) }
        let answer = try await recording.withLocalFile { [headers] path in
            try await client.post(address, headers, file: path)
        }
        try answer.requireSuccess()
        return try Self.speech(in: answer.body)
    }

    /// Vocabulary hints: configured words first, then the templates' words. Nova 3 uses
    /// another parameter than older models.
    private func hints(for recording: Recording) async throws -> [(String, String)] {
        let configured = (service.settings.prompt ?? "").split(separator: ",").map { String($0).cleaned }
        let words = configured.filter { !$0.isEmpty } + (try await recording.vocabulary())
        let name = (service.model(for: recording) ?? Self.usualModel).hasPrefix("nova-3") ? "keyterm" : "keywords"
        return words.removingDuplicates().prefix(Self.maxHints).map { (name, $0) }
    }

    private struct Answer: Decodable {
        struct Results: Decodable {
            let channels: [Channel]
            // Optional members: a wrong type in one of them must not lose the text.
            let utterances: Tolerant<[Utterance]>?
        }

        struct Channel: Decodable {
            let alternatives: [Alternative]
            let language: Tolerant<String>?

            enum CodingKeys: String, CodingKey {
                case alternatives
                case language = "detected_language"
            }
        }

        struct Alternative: Decodable {
            let transcript: String
            let confidence: Tolerant<Double>?
            let words: Tolerant<[DeepgramWord]>?
        }

        struct Utterance: Decodable {
            let transcript: String
            let speaker: Int?
        }

        let results: Results
    }

    private static func speech(in body: Data) throws -> RecognisedSpeech {
        guard let results = try? JSONDocument(body).decode(Answer.self).results,
            let best = results.channels.first?.alternatives.first
        else {
            throw EngineFailure(
                .transcriptionFailed, "the service's answer is no transcription", isRetryable: true)
        }
        let words = (best.words?.value ?? []).map {
            TimedWord(
                text: ($0.punctuated ?? $0.word).cleaned, start: $0.start, end: $0.end, speaker: $0.speaker?.value,
                language: $0.language?.value)
        }
        // One line per turn, if the service separates the speakers.
        let turns = results.utterances?.value ?? []
        let text =
            Set(turns.compactMap(\.speaker)).count > 1
            ? turns.map(\.transcript.cleaned).joined(separator: "\n") : best.transcript.cleaned
        let isDoubtful = !text.isEmpty && (best.confidence?.value.map { $0 < leastConfidence } ?? false)
        let warnings = isDoubtful ? [Diagnostic(.lowConfidence, "The recogniser was not sure of what it heard")] : []
        var speech = RecognisedSpeech(
            text: text, words: words, warnings: warnings, confidence: best.confidence?.value)
        speech.language = results.channels.first?.language?.value
        return speech
    }
}
