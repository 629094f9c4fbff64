import Basics
import ScribeDomain

/// JSON of the `speech` column of a chunk's transcript.
struct StoredSpeech: Codable {
    private struct Word: Codable {
        let text: String
        let start: Double
        let end: Double
        let speaker: Int?
    }

    private let text: String
    private let words: [Word]
    private let warnings: [StoredDiagnostic]
    private let quality: Double?
    private let confidence: Double?
    private let duration: Double?

    init(_ speech: RecognisedSpeech) {
        text = speech.text
        // JSON has no infinite or NaN numbers.
        words = speech.words.filter { $0.start.isFinite && $0.end.isFinite }.map {
            Word(text: $0.text, start: $0.start, end: $0.end, speaker: $0.speaker)
        }
        warnings = speech.warnings.map(StoredDiagnostic.init)
        quality = speech.quality
        confidence = speech.confidence
        duration = speech.duration
    }

    /// JSON of the column, with the keys that the decoder reads. Every chunk stores one, and an encoder costs more than
    /// the statement.
    var json: JSON {
        [
            "text": .string(text),
            "words": .array(words) {
                [
                    "text": .string($0.text), "start": .number($0.start), "end": .number($0.end),
                    "speaker": $0.speaker.map(JSON.integer),
                ]
            },
            "warnings": .array(warnings, \.json), "quality": quality.map(JSON.number),
            "confidence": confidence.map(JSON.number), "duration": duration.map(JSON.number),
        ]
    }

    var value: RecognisedSpeech {
        RecognisedSpeech(
            text: text,
            words: words.map { TimedWord(text: $0.text, start: $0.start, end: $0.end, speaker: $0.speaker) },
            warnings: warnings.map(\.value), quality: quality, confidence: confidence, duration: duration)
    }
}

/// JSON of a diagnostic in the `failure`, `errors` and `warnings` columns of chunks and documents.
struct StoredDiagnostic: Codable {
    private let code: String
    private let message: String
    /// nil for a problem that neither a fault rule nor an operator has caused.
    private let cause: String?

    private enum CodingKeys: String, CodingKey {
        case code, cause
        case message = "msg"
    }

    init(_ diagnostic: Diagnostic) {
        code = diagnostic.code.rawValue
        message = diagnostic.message
        cause = diagnostic.cause?.rawValue
    }

    var json: JSON { ["code": .string(code), "msg": .string(message), "cause": cause.map(JSON.string)] }

    /// Decoded diagnostic. An unknown code of a later version becomes `processingFailed`.
    var value: Diagnostic {
        Diagnostic(
            .init(rawValue: code) ?? .processingFailed, message, cause: cause.flatMap(Diagnostic.Cause.init(rawValue:)))
    }
}
