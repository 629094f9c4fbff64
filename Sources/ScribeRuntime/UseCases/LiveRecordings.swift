package import Engines
import Foundation
package import NIOCore
package import ScribeDomain
package import ScribeStore

/// Live streams that are consultations: their audio becomes chunks, what is heard in them the text of those, and their end
/// the commit.
package struct LiveRecordings: Sendable {
    let store: Store
    let uploads: Uploads
    let consultations: Consultations
    let clock: ScribeClock

    package init(store: Store, uploads: Uploads, consultations: Consultations, clock: ScribeClock) {
        self.store = store
        self.uploads = uploads
        self.consultations = consultations
        self.clock = clock
    }

    /// Begins a stream, or goes on with one that was broken off: its chunks are numbered after those that are there.
    /// - Throws: ``ScribeError/transactionNotFound``, ``ScribeError/invalidState(_:)`` once recording has ended, or where
    ///   the transaction has no place for audio.
    package func open(
        _ id: TransactionID, _ options: LiveOptions, for principal: Principal
    ) async throws -> LiveRecording {
        let key = Transaction.Key(business: principal.business, id: id)
        guard let transaction = try await store.transaction(key) else { throw ScribeError.transactionNotFound }
        guard transaction.userStatus.isOpen else {
            throw ScribeError.invalidState("The transaction takes no more audio")
        }
        guard let location = transaction.request.audioLocation, let names = try await store.fileNames(of: transaction)
        else { throw ScribeError.invalidState("The transaction was started without a place for its audio") }
        return LiveRecording(
            self, key, location, options, language: transaction.request.inputLanguages.first,
            next: (names.compactMap { chunkOrdinal(ofFile: $0) }.max() ?? 0) + 1, principal)
    }
}

/// One stream of a consultation. Nothing of what it has been told of as settled is lost by a stop.
package actor LiveRecording {
    private let recordings: LiveRecordings
    private let key: Transaction.Key
    private let location: AudioLocation
    private let principal: Principal
    private var options: LiveOptions
    /// That is spoken, as the transaction has it.
    package nonisolated let language: String?
    /// The number of the next chunk.
    private var next: Int
    private var times: [String: ChunkTimes] = [:]
    /// Audio that is in no chunk yet, and the frame that it begins with.
    private var pending = ByteBuffer()
    private var start = 0
    private var words: [TimedWord] = []
    /// For each channel that is heard, in frames.
    private var settled: [Int: Int] = [:]

    /// Silence is kept with what is said after it, up to a minute.
    private static let longestSilence = 60

    init(
        _ recordings: LiveRecordings, _ key: Transaction.Key, _ location: AudioLocation, _ options: LiveOptions,
        language: String?, next: Int, _ principal: Principal
    ) {
        self.recordings = recordings
        self.key = key
        self.location = location
        self.options = options
        self.language = language
        self.next = next
        self.principal = principal
    }

    private var frameSize: Int { 2 * options.channels }
    private func seconds(_ frames: Int) -> Double { Double(frames) / Double(options.sampleRate) }

    /// More audio, before an engine gets it.
    /// - Parameter options: what it is, which a container says only when it comes.
    package func take(_ audio: ByteBuffer, _ options: LiveOptions) {
        self.options = options
        pending.discardReadBytes()
        pending.writeImmutableBuffer(audio)
    }

    /// What an engine has heard. A final result is stored when this returns.
    /// - Throws: ``ScribeError/invalidState(_:)`` once recording has ended elsewhere, ``ScribeError/storageUnavailable(cause:)``.
    package func heard(_ result: LiveResult) async throws {
        guard result.isFinal else { return }
        words += result.words.map {
            TimedWord(text: $0.punctuated ?? $0.text, start: $0.start, end: $0.end, speaker: $0.speaker)
        }
        settled[result.channel] = Int(((result.start + result.duration) * Double(options.sampleRate)).rounded())
        let channels = options.hearsEachChannel ? options.channels : 1
        let end = (0..<channels).map { settled[$0] ?? 0 }.min() ?? 0
        guard end > start, !words.isEmpty || end - start >= Self.longestSilence * options.sampleRate else { return }
        let limit = seconds(end)
        let spoken = words.filter { $0.end <= limit + 0.001 }.sorted { $0.start < $1.start }
        words.removeAll { $0.end <= limit + 0.001 }
        try await keepChunk(upTo: end, spoken)
    }

    /// All that was to be heard was heard, and the results are wanted.
    package func commit() async throws {
        try await keepRest(isHeard: true)
        guard let transaction = try await recordings.store.transaction(key),
            let names = try await recordings.store.fileNames(of: transaction)
        else { throw ScribeError.transactionNotFound }
        let files = names.filter { chunkOrdinal(ofFile: $0) != nil }
        try await recordings.consultations.commit(key, ChunkList(files: files, times: times))
    }

    /// The stream has broken off. What was not settled of it is recognised later.
    package func breakOff() async throws { try await keepRest(isHeard: false) }

    private func keepRest(isHeard: Bool) async throws {
        let frames = pending.readableBytes / frameSize
        guard frames > 0 else { return }
        let rest = words.sorted { $0.start < $1.start }
        words = []
        try await keepChunk(upTo: start + frames, isHeard ? rest : nil)
    }

    /// - Parameter words: in seconds of the stream; nil where nobody has listened.
    private func keepChunk(upTo end: Int, _ words: [TimedWord]?) async throws {
        let count = min(end - start, pending.readableBytes / frameSize)
        guard count > 0, let audio = pending.readSlice(length: count * frameSize) else { return }
        let (first, name) = (start, "\(next).wav")
        start += count
        next += 1
        let begun = try await recordings.uploads.begin()
        var writer = begun.writer
        let header = WaveHeader(.linear(bits: 16), channels: options.channels, sampleRate: options.sampleRate)
        let object: StoredObject
        do {
            try await writer.write(header.bytes(before: audio.readableBytes))
            try await writer.write(audio)
            let written = try await writer.finish()
            object = StoredObject(
                bucket: location.bucket, key: location.key(ofFile: name), file: begun.file, size: written.size,
                eTag: Hex.encode(written.md5), contentType: "audio/wav", metadata: [:],
                createdAt: recordings.clock.now)
        } catch {
            await writer.discard()
            throw error
        }
        if let words {
            let offset = seconds(first)
            let speech = RecognisedSpeech(
                text: words.map(\.text).joined(separator: " "), words: words.map { $0.later(by: -offset) })
            try await recordings.uploads.keep(object, heard: speech, in: key, for: principal)
        } else {
            try await recordings.uploads.keep(object, for: principal)
        }
        times[name] = ChunkTimes(start: seconds(first), end: seconds(first + count))
    }
}
