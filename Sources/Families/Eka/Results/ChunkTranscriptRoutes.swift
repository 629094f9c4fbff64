import Basics
import Hummingbird
import ScribeDomain
import ScribeHTTP
import ScribeRuntime
import ScribeStore

/// `GET /voice/api/v3/transcript/{txn}/{chunk}`: the transcript of one chunk (eka.md 2.13).
struct ChunkTranscriptRoutes: Sendable {
    /// Longest wait for the transcript of a chunk that was just uploaded.
    private static let wait: Duration = .seconds(3)
    private static let parameter = "chunk"

    let transactions: Transactions

    static func add(to router: WorldRoutes<Self>) {
        router.get("voice/api/v3/transcript/{txn_id}/{chunk}", use: read)
    }

    @Sendable private func read(_ request: Request, context: ScribeContext) async throws -> Response {
        let key = try context.requireTransaction()
        guard let file = context.text(of: Self.parameter), file.isPlain
        else { throw ScribeError.invalidRequest(field: Self.parameter, problem: "is not the name of a file") }
        let found = try await transactions.chunkTranscript(
            of: key, file: file, atMost: Self.wait, until: context.clientDisconnect())
        switch found.result {
        case .failure(let diagnostic):
            throw ScribeError.resourceNotFound("The chunk was not transcribed: \(diagnostic.code.rawValue)")
        case .success(let speech):
            let length = found.times.map { $0.end - $0.start } ?? speech.duration
            return try await .longJSON(
                .ok,
                [
                    "text": .string(speech.text),
                    // Null while the recogniser reports no confidence.
                    "confidence": speech.confidence.map(JSON.number).orNull,
                    "segments": .array(speech.words) {
                        ["text": .string($0.text), "start": .number($0.start), "end": .number($0.end)]
                    },
                    "audio_length": length.map(JSON.number).orNull,
                    // A string here only: the one client that reads this member expects a string.
                    "audio_quality": speech.quality.map { JSON.string("\($0.inThousandths)") }.orNull,
                    // Members of eka-js-sdk's type; empty if this server has no such value.
                    "metadata": [
                        "txn_id": .string(key.id.rawValue), "file_name": .string(file),
                        "lang_input": .array(found.languages, JSON.string), "model_id": "", "commit_id": "",
                        "context_used": [], "lang_output": "", "task": "transcribe",
                    ],
                ])
        }
    }
}
