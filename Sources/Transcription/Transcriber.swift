public import ScribeDomain

/// Turns a finished recording into words.
public protocol Transcriber: Sendable {
    /// How the transcriber is called in the banner, in `/readyz` and in logs, for example `fake`.
    var name: String { get }

    /// Recognises the speech of one file.
    ///
    /// - Returns: the words; an empty text when nobody spoke.
    /// - Throws: ``TranscriptionFailure``, or `CancellationError` when the server stops.
    func transcribe(_ recording: Recording) async throws -> RecognisedSpeech
}

/// One stored audio file, as a transcriber gets it.
public struct Recording: Sendable {
    /// Where the bytes are. They do not change while the transcriber works.
    public let path: String
    /// The number in the chunk's name, else its position in the commit, from 1.
    public let ordinal: Int
    /// A language hint, for example `en-IN`.
    public let language: String?
    /// The fixture that the transaction asked for; only the fake heeds it.
    public let fixture: String?

    public init(path: String, ordinal: Int, language: String?, fixture: String?) {
        self.path = path
        self.ordinal = ordinal
        self.language = language
        self.fixture = fixture
    }
}

/// Why a file was not transcribed.
public struct TranscriptionFailure: Error, Hashable, Sendable {
    /// The code that the user's document will carry.
    public let code: Diagnostic.Code
    /// For the log: never the audio's words.
    public let reason: String
    /// Whether another attempt may succeed.
    public let isRetryable: Bool

    public init(_ code: Diagnostic.Code, _ reason: String, isRetryable: Bool = false) {
        self.code = code
        self.reason = reason
        self.isRetryable = isRetryable
    }
}
