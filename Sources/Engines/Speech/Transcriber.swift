package import ScribeDomain

/// Turns a finished recording into words.
package protocol Transcriber: Sendable {
    /// How the transcriber is called in the banner, in `/readyz` and in logs, for example `fake`.
    var name: String { get }

    /// Whether it can be used now, for `/readyz`.
    var condition: EngineCondition { get }

    /// Whether it takes no time worth speaking of, so that nothing is gained by beginning before commit.
    var isInstant: Bool { get }

    /// Asks the service behind it whether it is there. No audio is sent, and nothing costs.
    /// - Returns: what was asked and what came back; nil when it is there, or there is no service.
    func probe() async -> FailedProbe?

    /// Whether the last request to the service behind it failed, a probe among them.
    var hasFailedLast: Bool { get }

    /// Recognises the speech of one file.
    ///
    /// - Returns: the words; an empty text when nobody spoke.
    /// - Throws: ``EngineFailure``, or `CancellationError` when the server stops.
    func transcribe(_ recording: Recording) async throws -> RecognisedSpeech
}

extension Transcriber {
    package var condition: EngineCondition { .available }
    package var isInstant: Bool { false }
    package func probe() async -> FailedProbe? { nil }
    package var hasFailedLast: Bool { false }
}

/// The question and the answer of a probe that failed.
package struct FailedProbe: Hashable, Sendable {
    /// Without a key, for the log: `GET http://127.0.0.1:9000/v1/models`.
    package let asked: String
    package let answer: String

    package init(asked: String, answer: String) {
        self.asked = asked
        self.answer = answer
    }
}

/// Where the bytes of a recording are.
package protocol AudioSource: Sendable {
    /// Lends them as a file of this machine. They do not change while the transcriber works.
    func withLocalFile<Value: Sendable>(_ body: (String) async throws -> Value) async throws -> Value
}

/// Audio that is in a file here.
package struct LocalAudio: AudioSource {
    private let path: String

    package init(path: String) { self.path = path }

    package func withLocalFile<Value: Sendable>(_ body: (String) async throws -> Value) async throws -> Value {
        try await body(path)
    }
}

/// One stored audio file, as a transcriber gets it.
package struct Recording: Sendable {
    package private(set) var audio: any AudioSource
    /// The number in the chunk's name, else its position in the commit, from 1.
    package let ordinal: Int
    /// When it was spoken in its consultation, where that is known.
    package let times: ChunkTimes?
    /// When what was recorded before it was spoken, where that is known.
    package let timesBefore: ChunkTimes?
    /// What may be spoken, for example `en-IN`: two languages at most.
    package let languages: [String]
    /// Whether the transaction asked for the faster model.
    package let isLite: Bool
    /// Whether the file has failed if this fails.
    package let isLastAttempt: Bool
    /// Whose it is: where recordings wait, tenants take turns.
    package let tenant: String
    /// Words that are likely, as the requested templates have it. Looked up when a transcriber asks for them.
    package let vocabulary: @Sendable () async throws -> [String]

    package init(
        _ audio: any AudioSource, ordinal: Int, times: ChunkTimes? = nil, timesBefore: ChunkTimes? = nil,
        languages: [String] = [], isLite: Bool = false, isLastAttempt: Bool = false, tenant: String = "",
        vocabulary: @escaping @Sendable () async throws -> [String] = { [] }
    ) {
        self.audio = audio
        self.ordinal = ordinal
        self.times = times
        self.timesBefore = timesBefore
        self.languages = languages
        self.isLite = isLite
        self.isLastAttempt = isLastAttempt
        self.tenant = tenant
        self.vocabulary = vocabulary
    }

    package func withLocalFile<Value: Sendable>(_ body: (String) async throws -> Value) async throws -> Value {
        try await audio.withLocalFile(body)
    }

    /// A piece of it, cut out into a file of its own.
    func part(at path: String) -> Recording {
        var part = self
        part.audio = LocalAudio(path: path)
        return part
    }

    /// The first one.
    package var language: String? { languages.first }
}
