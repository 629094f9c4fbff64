package import ScribeDomain

/// Turns a finished recording into words.
package protocol Transcriber: Sendable {
    /// How the transcriber is called in the banner, in `/readyz` and in logs, for example `fake`.
    var name: String { get }

    /// Recognises the speech of one file.
    ///
    /// - Returns: the words; an empty text when nobody spoke.
    /// - Throws: ``TranscriptionFailure``, or `CancellationError` when the server stops.
    func transcribe(_ recording: Recording) async throws -> RecognisedSpeech
}

/// One stored audio file, as a transcriber gets it.
package struct Recording: Sendable {
    /// Where the bytes are. They do not change while the transcriber works.
    package let path: String
    /// The number in the chunk's name, else its position in the commit, from 1.
    package let ordinal: Int
    /// A language hint, for example `en-IN`.
    package let language: String?
    /// The fixture that the transaction asked for; only the fake heeds it.
    package let fixture: String?

    package init(path: String, ordinal: Int, language: String?, fixture: String?) {
        self.path = path
        self.ordinal = ordinal
        self.language = language
        self.fixture = fixture
    }
}

/// Why a file was not transcribed.
package struct TranscriptionFailure: Error, Hashable, Sendable {
    /// The code that the user's document will carry.
    package let code: Diagnostic.Code
    /// For the log: never the audio's words.
    package let reason: String
    /// Whether another attempt may succeed.
    package let isRetryable: Bool

    package init(_ code: Diagnostic.Code, _ reason: String, isRetryable: Bool = false) {
        self.code = code
        self.reason = reason
        self.isRetryable = isRetryable
    }
}
