/// A word and when it was spoken, in seconds from the start of its chunk.
package struct TimedWord: Hashable, Sendable {
    package let text: String
    package let start: Double
    package let end: Double
    /// Who said it, where the recogniser tells people apart; the numbers are the chunk's own.
    package let speaker: Int?
    /// The word's language, a tag such as `en`; nil when the recogniser does not tell it. It is not stored.
    package let language: String?

    package init(text: String, start: Double, end: Double, speaker: Int? = nil, language: String? = nil) {
        self.language = language
        self.text = text
        self.start = start
        self.end = end
        self.speaker = speaker
    }

    /// The same word in a recording that began so many seconds earlier.
    package func later(by seconds: Double) -> TimedWord {
        TimedWord(
            text: text, start: start + seconds, end: end + seconds, speaker: speaker, language: language)
    }
}

/// What a recogniser made of one file.
package struct RecognisedSpeech: Hashable, Sendable {
    /// The words; empty when nobody spoke.
    package var text: String
    /// Word times where the recogniser has them.
    package var words: [TimedWord]
    /// What the recogniser had doubts about; makes the result a partial success.
    package var warnings: [Diagnostic]
    /// How well speech can be heard in the file, from 0 to 1; nil where nobody has measured it.
    package var quality: Double?
    /// How sure the recogniser is of its words, from 0 to 1; nil where it does not tell.
    package let confidence: Double?
    /// How long the file is, in seconds; nil where nobody has looked.
    package let duration: Double?
    /// The spoken language, a tag such as `en`; nil when the recogniser does not tell it. It is not stored.
    package var language: String?

    package init(
        text: String, words: [TimedWord] = [], warnings: [Diagnostic] = [], quality: Double? = nil,
        confidence: Double? = nil, duration: Double? = nil
    ) {
        self.text = text.storable
        self.words = words
        self.warnings = warnings
        self.quality = quality
        self.confidence = confidence.flatMap { $0.isFinite ? min(max($0, 0), 1) : nil }
        self.duration = duration
    }
}

/// One file of a committed transaction and what became of it.
package struct ChunkOutcome: Hashable, Sendable {
    package let file: String
    package let times: ChunkTimes?
    package let result: Result<RecognisedSpeech, Diagnostic>

    package init(file: String, times: ChunkTimes?, result: Result<RecognisedSpeech, Diagnostic>) {
        self.file = file
        self.times = times
        self.result = result
    }
}

extension Diagnostic: Error {}

extension [ChunkOutcome] {
    /// The mean quality of the files that were measured; nil when none was.
    package var quality: Double? {
        let measured = compactMap { try? $0.result.get().quality }
        return measured.isEmpty ? nil : measured.reduce(0, +) / Double(measured.count)
    }
}

/// The whole conversation, put together from its chunks in order.
package struct Transcript: Hashable, Sendable {
    package let text: String
    package let status: ResultDocument.Status
    package let errors: [Diagnostic]
    package let warnings: [Diagnostic]

    /// What a finished transcript document says: one that was heard before, supplied, or corrected by a person.
    package init(of document: ResultDocument) {
        text = document.value ?? ""
        status = document.status
        errors = document.errors
        warnings = document.warnings
    }

    /// Stitches the chunks; what failed among them becomes a warning that names it, or the error when all failed.
    /// - Parameter languages: those that init asked for.
    package init(stitching chunks: [ChunkOutcome], languages: [String] = []) {
        var spoken: [SpokenChunk] = []
        var failures: [Diagnostic.Code: [String]] = [:]
        var doubts: [Diagnostic] = []
        for chunk in chunks {
            switch chunk.result {
            case .success(let speech):
                spoken.append(SpokenChunk(text: speech.text, words: speech.words, times: chunk.times))
                doubts += speech.warnings
            case .failure(let diagnostic):
                failures[diagnostic.code, default: []].append(chunk.file)
            }
        }
        let failed = failures.sorted { $0.key.rawValue < $1.key.rawValue }
            .map { Diagnostic($0.key, Self.explanation(of: $0.key, in: $0.value)) }
        text = Self.stitch(spoken)

        if chunks.isEmpty {
            status = .failure
            errors = [Diagnostic(.noAudio, "The transaction was committed without audio")]
            warnings = []
        } else if text.isEmpty {
            status = .failure
            let silent = doubts.filter { $0.code == .noSpeech }.removingDuplicates()
            errors = failed + (failed.isEmpty && silent.isEmpty ? [Diagnostic(.noSpeech, "No speech found")] : silent)
            warnings = []
        } else {
            // A pause among what was said is no doubt.
            doubts.removeAll { $0.code == .noSpeech }
            status = failed.isEmpty && doubts.isEmpty ? .success : .partialSuccess
            errors = []
            warnings =
                failed + doubts.removingDuplicates() + Self.gaps(in: chunks.map(\.file))
                + Self.surplus(of: languages)
        }
    }

    private static func explanation(of code: Diagnostic.Code, in files: [String]) -> String {
        let names = files.prefix(20).joined(separator: ", ") + (files.count > 20 ? ", …" : "")
        return switch code {
        case .emptyAudio: "Empty audio: \(names)"
        case .audioTooShort: "Audio too short: \(names)"
        case .undecodableAudio: "Audio could not be decoded: \(names)"
        case .audioMissing: "Audio was committed and never arrived: \(names)"
        case .transcriptionTimeout: "Transcription took too long: \(names)"
        case .unknownFixture: "No fixture has the requested name: \(names)"
        case .noSpeech: "No speech found: \(names)"
        case .noAudio, .chunkGap, .transcriptionFailed, .lowConfidence, .processingFailed, .noteFailed,
            .notTranslated, .languagesIgnored:
            "Transcription failed: \(names)"
        }
    }

    private static func surplus(of languages: [String]) -> [Diagnostic] {
        let ignored = languages.dropFirst(TransactionRequest.largestLanguageCount)
        guard !ignored.isEmpty else { return [] }
        return [Diagnostic(.languagesIgnored, "Only two languages are recognised together")]
    }

    private static func gaps(in files: [String]) -> [Diagnostic] {
        let numbers = files.compactMap(chunkOrdinal(ofFile:))
        // A recording that begins with 0 lacks nothing for that.
        guard numbers.count == files.count, let last = numbers.max(), (1...100_000).contains(last) else { return [] }
        let missing = Set(1...last).subtracting(numbers).sorted()
        guard !missing.isEmpty else { return [] }
        let names = missing.prefix(20).map(String.init).joined(separator: ", ") + (missing.count > 20 ? ", …" : "")
        return [Diagnostic(.chunkGap, "Chunks were not committed: \(names)")]
    }
}
