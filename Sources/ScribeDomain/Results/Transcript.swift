/// Word with its times, in seconds from the start of its chunk.
package struct TimedWord: Hashable, Sendable {
    package let text: String
    package let start: Double
    package let end: Double
    /// Speaker number, unique only within the chunk; nil if the recogniser does not separate speakers.
    package let speaker: Int?
    /// Language tag of the word, such as `en`; nil if the recogniser gives none. The language is not stored.
    package let language: String?

    package init(text: String, start: Double, end: Double, speaker: Int? = nil, language: String? = nil) {
        self.language = language
        self.text = text
        self.start = start
        self.end = end
        self.speaker = speaker
    }

    /// Copy of the word with its times moved by `seconds`, for a recording that began earlier.
    package func later(by seconds: Double) -> TimedWord {
        TimedWord(
            text: text, start: start + seconds, end: end + seconds, speaker: speaker, language: language)
    }
}

/// Recognised speech of one file.
package struct RecognisedSpeech: Hashable, Sendable {
    /// Recognised words; empty without speech.
    package var text: String
    /// Words with times; empty if the recogniser gives no times.
    package var words: [TimedWord]
    /// Doubts of the recogniser; any warning makes the result a partial success.
    package var warnings: [Diagnostic]
    /// Audio quality for speech, from 0 to 1; nil if not measured.
    package var quality: Double?
    /// Confidence of the recogniser from 0 to 1; nil if unknown.
    package let confidence: Double?
    /// Duration of the file in seconds; nil if not measured.
    package var duration: Double?
    /// Spoken language, a tag such as `en`; nil if the recogniser gives none. The language is not stored.
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

/// Committed file of a transaction with its recognition result.
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
    /// Mean audio quality of the measured files; nil if no file was measured.
    package var quality: Double? {
        let measured = compactMap { try? $0.result.get().quality }
        return measured.isEmpty ? nil : measured.reduce(0, +) / Double(measured.count)
    }
}

/// Transcript of a whole recording, joined from its chunks in order.
package struct Transcript: Hashable, Sendable {
    package let text: String
    package let status: ResultDocument.Status
    package let errors: [Diagnostic]
    package let warnings: [Diagnostic]

    /// Creates the transcript of a finished document: recognised before, supplied, or corrected by a person.
    package init(of document: ResultDocument) {
        text = document.value ?? ""
        status = document.status
        errors = document.errors
        warnings = document.warnings
    }

    /// Joins recognised chunks. Failed chunks become a warning that names them, or the error if all chunks failed.
    /// - Parameters:
    ///   - languages: languages that init requested.
    ///   - areNumbered: whether a missing number is a missing chunk.
    ///   - comparesLengths: whether times that do not fit the length of their audio are told. Audio for the fake
    ///     transcriber is rarely as long as its times say.
    package init(
        stitching chunks: [ChunkOutcome], languages: [String] = [], areNumbered: Bool = true,
        comparesLengths: Bool = true
    ) {
        var spoken: [SpokenChunk] = []
        var failures: [Diagnostic.Code: [(file: String, cause: Diagnostic.Cause?)]] = [:]
        var doubts: [Diagnostic] = []
        for chunk in chunks {
            switch chunk.result {
            case .success(let speech):
                spoken.append(
                    SpokenChunk(
                        text: speech.text, words: speech.words, times: chunk.times, duration: speech.duration))
                doubts += speech.warnings
            case .failure(let diagnostic):
                failures[diagnostic.code, default: []].append((chunk.file, diagnostic.cause))
            }
        }
        let failed = failures.sorted { $0.key.rawValue < $1.key.rawValue }
            .map { code, chunks in
                let causes = Set(chunks.map(\.cause))
                return Diagnostic(
                    code, Self.explanation(of: code, in: chunks.map(\.file)),
                    cause: causes.count == 1 ? chunks.first?.cause : nil)
            }
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
            // A silent chunk among spoken ones is a pause and no warning.
            doubts.removeAll { $0.code == .noSpeech }
            status = failed.isEmpty && doubts.isEmpty ? .success : .partialSuccess
            errors = []
            let missing = areNumbered ? Self.gaps(in: chunks.map(\.file)) : []
            // Where a chunk is missing, its time is too.
            let times = Self.contradictions(in: chunks, comparesLengths).filter {
                $0.code != .chunkGap || missing.isEmpty
            }
            warnings = failed + doubts.removingDuplicates() + missing + times + Self.surplus(of: languages)
        }
    }

    /// Warnings about times that contradict each other, or the length of their file.
    private static func contradictions(in chunks: [ChunkOutcome], _ comparesLengths: Bool) -> [Diagnostic] {
        func diagnostic(_ code: Diagnostic.Code, _ problem: String, _ files: [String]) -> Diagnostic? {
            files.isEmpty ? nil : Diagnostic(code, "\(problem): \(names(files))")
        }
        func files(_ seam: ChunkTimes.Seam) -> [String] {
            zip(chunks, chunks.dropFirst()).filter { first, second in
                first.times.flatMap { times in second.times.map { times.seam(before: $0) } } == seam
            }.map(\.1.file)
        }
        func files(where isWrong: (_ times: Double, _ audio: Double) -> Bool) -> [String] {
            chunks.filter { chunk in
                guard comparesLengths, let times = chunk.times, let duration = try? chunk.result.get().duration else {
                    return false
                }
                return !times.fits(duration) && isWrong(times.end - times.start, duration)
            }.map(\.file)
        }
        return [
            diagnostic(
                .chunkOverlap, "Times do not fit the file before, and files were joined in order", files(.overlapping)),
            diagnostic(.chunkOverlap, "Times are shorter than the audio", files { $0 < $1 }),
            diagnostic(.chunkGap, "Time is missing before", files(.gap)),
            diagnostic(.chunkGap, "Times are longer than the audio", files { $0 > $1 }),
        ].compactMap(\.self)
    }

    private static func names(_ names: [String]) -> String {
        names.prefix(20).joined(separator: ", ") + (names.count > 20 ? ", …" : "")
    }

    private static func explanation(of code: Diagnostic.Code, in files: [String]) -> String {
        let names = names(files)
        return switch code {
        case .emptyAudio: "Empty audio: \(names)"
        case .audioTooShort: "Audio too short: \(names)"
        case .undecodableAudio: "Audio could not be decoded: \(names)"
        case .audioMissing: "Audio was committed and never arrived: \(names)"
        case .transcriptionTimeout: "Transcription took too long: \(names)"
        case .unknownFixture: "No fixture has the requested name: \(names)"
        case .noSpeech: "No speech found: \(names)"
        case .noAudio, .chunkGap, .chunkOverlap, .transcriptionFailed, .lowConfidence, .processingFailed, .noteFailed,
            .notTranslated, .unsaidContent, .writtenByRules, .languagesIgnored:
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
        // Chunks numbered from 0 have no gap at 0.
        guard numbers.count == files.count, let last = numbers.max(), (1...100_000).contains(last) else { return [] }
        let missing = Set(1...last).subtracting(numbers).sorted()
        guard !missing.isEmpty else { return [] }
        return [Diagnostic(.chunkGap, "Chunks were not committed: \(names(missing.map(String.init)))")]
    }
}
