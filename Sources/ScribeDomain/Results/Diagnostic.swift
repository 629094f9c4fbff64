/// Error or warning of a result document, in the API's wording.
package struct Diagnostic: Hashable, Sendable {
    /// Stable error and warning codes; `docs/failures.md` says how to provoke each one.
    package enum Code: String, Hashable, Sendable, CaseIterable {
        /// The transaction was committed without any audio.
        case noAudio = "no_audio"
        /// The audio contains no speech.
        case noSpeech = "no_speech"
        /// The file has no bytes.
        case emptyAudio = "empty_audio"
        /// The audio lasts less than 0.1 s.
        case audioTooShort = "audio_too_short"
        /// The bytes are no audio of a known container, or the file is cut off.
        case undecodableAudio = "undecodable_audio"
        /// Commit listed the file, but the upload did not arrive in time.
        case audioMissing = "audio_missing"
        /// The numbers of the committed chunks have a gap, as after a forced commit, or their times have one.
        case chunkGap = "chunk_gap"
        /// The times of the committed chunks contradict each other.
        case chunkOverlap = "chunk_overlap"
        /// The recogniser failed, after all attempts.
        case transcriptionFailed = "transcription_failed"
        /// The recogniser exceeded its time limit.
        case transcriptionTimeout = "transcription_timeout"
        /// The recogniser reported low confidence.
        case lowConfidence = "low_confidence"
        /// The transaction asked for a fixture that does not exist.
        case unknownFixture = "unknown_fixture"
        /// The server itself failed, after all attempts.
        case processingFailed = "processing_failed"
        /// The note writer failed.
        case noteFailed = "note_failed"
        /// The transaction asked for more languages than one recognition takes.
        case languagesIgnored = "languages_ignored"
        /// The note was requested in another language than the spoken one; the server does not translate.
        case notTranslated = "not_translated"
        /// The language model stated numbers, medicines, doses, sides or denials that were not said.
        case unsaidContent = "unsaid_content"
        /// The language model failed, and the rules wrote the note.
        case writtenByRules = "written_by_rules"

        /// Whether a graver problem of the same recording is told in place of this one.
        package var isMild: Bool { [.chunkGap, .chunkOverlap, .languagesIgnored, .notTranslated].contains(self) }
    }

    package let code: Code
    package let message: String
    /// Act of a tester that caused the problem; nil if none did, and for a fixture.
    package let cause: Cause?

    package init(_ code: Code, _ message: String, cause: Cause? = nil) {
        self.code = code
        self.message = message
        self.cause = cause
    }

    /// Whether another commit may succeed, because the cause was not the audio.
    package var isRetryable: Bool { [.transcriptionFailed, .transcriptionTimeout, .noteFailed].contains(code) }
}
