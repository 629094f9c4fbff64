import Hummingbird
import ScribeDomain
import ScribeHTTP
import ScribeRuntime
import ScribeStore

/// `GET /voice/api/v3/transcript/{txn}/{chunk}`: what was heard in one chunk (eka.md 2.13).
struct ChunkTranscriptRoutes: Sendable {
    /// How long a client waits for a chunk that was just uploaded.
    private static let wait: Duration = .seconds(3)
    private static let parameter = "chunk"

    let consultations: Consultations

    func add(to router: RouterGroup<ScribeContext>) {
        router.get("voice/api/v3/transcript/{txn_id}/{chunk}", use: read)
    }

    private struct Body: Encodable {
        struct Segment: Encodable {
            let text: String
            let start: Double
            let end: Double
        }

        /// What eka-js-sdk's type has in it; empty where this server has no such thing.
        struct Metadata: Encodable {
            let transaction: String
            let file: String
            let languages: [String]
            let model = ""
            let commit = ""
            let context: [String] = []
            let outputLanguage = ""
            let task = "transcribe"

            enum CodingKeys: String, CodingKey {
                case task
                case transaction = "txn_id"
                case file = "file_name"
                case languages = "lang_input"
                case model = "model_id"
                case commit = "commit_id"
                case context = "context_used"
                case outputLanguage = "lang_output"
            }
        }

        let text: String
        let confidence: Double?
        let segments: [Segment]
        let audioLength: Double?
        let audioQuality: Double?
        let metadata: Metadata

        private enum CodingKeys: String, CodingKey {
            case text, confidence, segments, metadata
            case audioLength = "audio_length"
            case audioQuality = "audio_quality"
        }

        func encode(to encoder: any Encoder) throws {
            var body = encoder.container(keyedBy: CodingKeys.self)
            try body.encode(text, forKey: .text)
            // Null while no recogniser tells: nothing is made up.
            try body.encode(confidence, forKey: .confidence)
            try body.encode(segments, forKey: .segments)
            try body.encode(audioLength, forKey: .audioLength)
            // A text, as in no other answer: the only client that reads it has it so.
            try body.encode(audioQuality.map { String(($0 * 1000).rounded() / 1000) }, forKey: .audioQuality)
            try body.encode(metadata, forKey: .metadata)
        }
    }

    @Sendable private func read(_ request: Request, context: ScribeContext) async throws -> Response {
        let key = try context.requireTransaction()
        guard let file = context.text(of: Self.parameter), file.isPlain
        else { throw ScribeError.invalidRequest(field: Self.parameter, problem: "is not the name of a file") }
        let found = try await consultations.chunkTranscript(
            of: key, file: file, atMost: Self.wait, until: context.departure)
        switch found.result {
        case .failure(let diagnostic):
            throw ScribeError.resourceNotFound("The chunk was not transcribed: \(diagnostic.code.rawValue)")
        case .success(let speech):
            return try await .longJSON(
                .ok,
                Body(
                    text: speech.text, confidence: speech.confidence,
                    segments: speech.words.map { .init(text: $0.text, start: $0.start, end: $0.end) },
                    audioLength: found.times.map { $0.end - $0.start } ?? speech.duration, audioQuality: speech.quality,
                    metadata: .init(transaction: key.id.rawValue, file: file, languages: found.languages)))
        }
    }
}
