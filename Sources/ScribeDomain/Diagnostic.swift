/// An error or a warning of a result document, in the API's words.
package struct Diagnostic: Hashable, Sendable {
    /// Stable codes; `docs/recipes.md` says how to provoke each.
    package enum Code: String, Hashable, Sendable, CaseIterable {
        /// The transaction was committed without any audio.
        case noAudio = "no_audio"
        /// Audio was there, and nobody spoke in it.
        case noSpeech = "no_speech"
        /// A file without a single byte.
        case emptyAudio = "empty_audio"
        /// Less than a tenth of a second.
        case audioTooShort = "audio_too_short"
        /// The bytes are no audio of a known container, or are cut off.
        case undecodableAudio = "undecodable_audio"
        /// Commit listed the file, and it did not arrive in time.
        case audioMissing = "audio_missing"
        /// The numbering of the committed chunks has a gap, as after a forced commit.
        case chunkGap = "chunk_gap"
        /// The recogniser failed, after all attempts.
        case transcriptionFailed = "transcription_failed"
        /// The recogniser took longer than it may.
        case transcriptionTimeout = "transcription_timeout"
        /// The recogniser was not sure of what it heard.
        case lowConfidence = "low_confidence"
        /// No fixture has the name that the transaction asked for.
        case unknownFixture = "unknown_fixture"
        /// The server itself failed, after all attempts.
        case processingFailed = "processing_failed"
        /// The note could not be written.
        case noteFailed = "note_failed"
        /// More languages were asked for than are recognised together.
        case languagesIgnored = "languages_ignored"
        /// A note was asked for in another language than was spoken, and nobody translates.
        case notTranslated = "not_translated"
    }

    package let code: Code
    package let message: String

    package init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// Whether a further commit may succeed: it was not the audio that failed.
    package var isCurable: Bool { [.transcriptionFailed, .transcriptionTimeout, .noteFailed].contains(code) }
}
