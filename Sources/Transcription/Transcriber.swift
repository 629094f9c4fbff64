package import ScribeDomain

/// Turns a finished recording into words.
package protocol Transcriber: Sendable {
    /// How the transcriber is called in the banner, in `/readyz` and in logs, for example `fake`.
    var name: String { get }

    /// Whether it can be used now, for `/readyz`.
    var condition: TranscriberCondition { get }

    /// Whether it takes no time worth speaking of, so that nothing is gained by beginning before commit.
    var isInstant: Bool { get }

    /// How long after commit the results of a transaction with a fixture are to be held back, in seconds; nil for
    /// not at all.
    func delay(ofFixture name: String) -> Double?

    /// Recognises the speech of one file.
    ///
    /// - Returns: the words; an empty text when nobody spoke.
    /// - Throws: ``TranscriptionFailure``, or `CancellationError` when the server stops.
    func transcribe(_ recording: Recording) async throws -> RecognisedSpeech
}

extension Transcriber {
    package var condition: TranscriberCondition { .available }
    package var isInstant: Bool { false }
    package func delay(ofFixture name: String) -> Double? { nil }
}

/// Whether a transcriber can be used.
package enum TranscriberCondition: String, Hashable, Sendable {
    case available
    /// It has failed so often that it is left alone for a while.
    case unavailable
}

/// One stored audio file, as a transcriber gets it.
package struct Recording: Sendable {
    /// Where the bytes are. They do not change while the transcriber works.
    package private(set) var path: String
    /// The number in the chunk's name, else its position in the commit, from 1.
    package let ordinal: Int
    /// Whether the end of the file before it is known to be heard again at its start; only the fake heeds it.
    package let overlaps: Bool
    /// What may be spoken, for example `en-IN`: two languages at most.
    package let languages: [String]
    /// Whether the transaction asked for the faster model.
    package let isLite: Bool
    /// Whether the file has failed if this fails.
    package let isLastAttempt: Bool
    /// The fixture that the transaction asked for; only the fake heeds it.
    package let fixture: String?
    /// Whose it is: where recordings wait, tenants take turns.
    package let tenant: String
    /// Words that are likely, as the requested templates have it. Looked up when a transcriber asks for them.
    package let vocabulary: @Sendable () async throws -> [String]

    package init(
        path: String, ordinal: Int, overlaps: Bool = true, languages: [String] = [], isLite: Bool = false,
        isLastAttempt: Bool = false,
        fixture: String? = nil, tenant: String = "",
        vocabulary: @escaping @Sendable () async throws -> [String] = { [] }
    ) {
        self.path = path
        self.ordinal = ordinal
        self.overlaps = overlaps
        self.languages = languages
        self.isLite = isLite
        self.isLastAttempt = isLastAttempt
        self.fixture = fixture
        self.tenant = tenant
        self.vocabulary = vocabulary
    }

    /// A piece of it, cut out into a file of its own.
    func part(at path: String) -> Recording {
        var part = self
        part.path = path
        return part
    }

    /// The first one.
    package var language: String? { languages.first }
}

/// Why a file was not transcribed.
package struct TranscriptionFailure: Error, Hashable, Sendable {
    /// The code that the user's document will carry.
    package let code: Diagnostic.Code
    /// For the log: never the audio's words.
    package let reason: String
    /// Whether another attempt may succeed.
    package let isRetryable: Bool
    /// How long a service asked to be left alone, in seconds.
    package let retryAfter: Double?
    package let origin: Origin

    /// What failed.
    package enum Origin: Hashable, Sendable {
        /// The service, or the program.
        case service
        /// The audio: another recording may be understood.
        case recording
        /// Nobody was asked, so this was no attempt.
        case refusal
    }

    package init(
        _ code: Diagnostic.Code, _ reason: String, isRetryable: Bool = false, retryAfter: Double? = nil,
        origin: Origin? = nil
    ) {
        self.code = code
        self.reason = reason
        self.isRetryable = isRetryable
        self.retryAfter = retryAfter
        self.origin = origin ?? (code == .transcriptionFailed || code == .transcriptionTimeout ? .service : .recording)
    }
}
