import Basics
package import NIOCore
package import NIOPosix
package import ScribeDomain

/// Speech recogniser for finished recordings.
///
/// A server has one transcriber for all tenants. Its callers are the workers of chunks, the routes that recognise a
/// whole recording, and ``TranscribingLiveEngine`` for the stretches of a live stream. Calls overlap. They come on any
/// thread, event loops among them: blocking work needs other threads. ``GuardedTranscriber`` adds the time limit, the
/// limit of concurrent calls and the circuit breaker: a transcriber needs none of them.
package protocol Transcriber: Engine {
    /// Whether recognition takes negligible time, so that an early start before commit gains nothing. Constant.
    var isInstant: Bool { get }

    /// Recognises the speech of one file: a chunk, a whole recording, or a stretch of a live stream.
    ///
    /// The same file may come again: after a retryable failure, and after a restart of the server. The bytes may be
    /// damaged. Their container is the client's, such as M4A, WAV or WebM.
    /// - Parameter recording: the file, with hints that the transcriber may ignore.
    /// - Returns: the words, with times in seconds from the beginning of the file; an empty text without speech.
    /// - Throws: ``EngineFailure``, whose ``EngineFailure/isRetryable`` decides about another attempt;
    ///   `CancellationError` soon after the task is cancelled, which happens when the server stops, the time limit
    ///   ends, or the live stream fails.
    func transcribe(_ recording: Recording) async throws -> RecognisedSpeech
}

extension Transcriber {
    package var isInstant: Bool { false }
}

/// Source of a recording's bytes: a stored object, or a file of this machine.
package protocol AudioSource: Sendable {
    /// All bytes, if they are few and still in memory.
    var bytesInMemory: ByteBuffer? { get }

    /// Provides the bytes as a local file, unchanged while `body` runs.
    /// - Parameter body: receives the absolute path. It must not change the file, and must not use the path later.
    /// - Throws: errors of `body`; the store's error if the bytes are gone or cannot be fetched.
    func withLocalFile<Value: Sendable>(_ body: (String) async throws -> Value) async throws -> Value
}

extension AudioSource {
    package var bytesInMemory: ByteBuffer? { nil }

    /// Reads the bytes: from memory, otherwise from a file, on a thread that may block.
    /// - Throws: errors of `body`; the store's error if the bytes are gone or cannot be fetched.
    package func read<Value: Sendable>(
        on files: NIOThreadPool, _ body: @escaping @Sendable (AudioBytes) throws -> Value
    ) async throws -> Value {
        if let bytes = bytesInMemory {
            return try await EventLoopOffload.run(bytes: bytes.readableBytes) { try body(AudioBytes(bytes)) }
        }
        return try await withLocalFile { path in
            try await files.runIfActive { try body(AudioBytes(file: path)) }
        }
    }
}

/// Audio in a local file.
package struct LocalAudio: AudioSource {
    private let path: String

    package init(path: String) { self.path = path }

    package func withLocalFile<Value: Sendable>(_ body: (String) async throws -> Value) async throws -> Value {
        try await body(path)
    }
}

/// Stored audio file with its context, as input of a transcriber.
package struct Recording: Sendable {
    package private(set) var audio: any AudioSource
    /// Number in the chunk's name, otherwise the position in the commit, from 1.
    package let ordinal: Int
    /// Time span of the chunk within its session; nil if unknown.
    package let times: ChunkTimes?
    /// Time span of the chunk before; nil if unknown.
    package let timesBefore: ChunkTimes?
    /// Possible spoken languages, for example `en-IN`; at most two.
    package let languages: [String]
    /// Whether the transaction asked for the faster model.
    package let isLite: Bool
    /// Whether the file fails finally if this attempt fails.
    package let isLastAttempt: Bool
    /// Tenant of the recording: waiting recordings of several tenants take turns.
    package let tenant: String
    /// Words that the requested templates expect. The lookup runs only if a transcriber needs the words.
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

    /// Provides the audio as a local file, see ``AudioSource/withLocalFile(_:)``.
    package func withLocalFile<Value: Sendable>(_ body: (String) async throws -> Value) async throws -> Value {
        try await audio.withLocalFile(body)
    }

    /// Copy whose audio is a piece cut into its own file.
    func part(at path: String) -> Recording {
        var part = self
        part.audio = LocalAudio(path: path)
        return part
    }

    /// First possible language; nil if there is none.
    package var language: String? { languages.first }
}
