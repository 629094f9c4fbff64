import Basics
package import Engines
import Foundation
package import NIOCore
import ObjectStorage
package import ScribeDomain
import ScribeStore

/// Recording of one live stream of a transaction: cuts audio and words into chunks and stores them. Audio with a final
/// result survives a stop of the server.
package actor LiveRecording {
    /// The length of a chunk in seconds, as clients cut them. Results are joined up to it, so that ``Limits/files``
    /// hold more than a day.
    package static let chunkLength = 20

    private let recordings: LiveRecordings
    private var place: LiveRecordings.ChunkDestination
    private let principal: Principal
    private let keepsSilence: Bool
    private var options: LiveOptions
    /// The spoken language of the transaction; nil if it names none.
    package nonisolated let language: String?
    private var times: [String: ChunkTimes] = [:]
    /// Audio that is in no chunk yet.
    private var pending = ByteBuffer()
    /// The first frame of ``pending``, counted from the start of the stream.
    private var start = 0
    private var words: [TimedWord] = []
    /// The last chunk, while further results may join it; else nil.
    private var last: TranscribedChunk?
    /// The number of chunks that are being written.
    private var chunksBeingWritten = 0
    /// The audio bytes of chunks that are being written.
    private var bytesBeingWritten = 0
    private var waiters: [CheckedContinuation<Void, Never>] = []
    /// The end of the last final result by channel, in frames.
    private var finalEnds: [Int: Int] = [:]
    /// The end of the audio that was stored before its final result, in frames. A job recognises that audio later, so
    /// the engine's late words for it are dropped.
    private var storedUnrecognisedEnd = 0
    /// The share of the memory budget for audio in memory.
    private let memory: MemoryShare

    /// The length of a chunk of silence, in seconds. Shorter silence is stored with the speech after it.
    private static let silenceLength = 60
    /// The most audio without a final result, in seconds. No engine is so far behind, so older audio was silence.
    private static let longestPending = 180
    /// The most audio without a final result, in bytes. Beyond it, half is stored as a chunk.
    private static let maxPending = 8 << 20
    /// The audio size in bytes from which a chunk gets no further results.
    private static let largestJoined = 4 << 20

    init(
        _ recordings: LiveRecordings, _ place: LiveRecordings.ChunkDestination, _ options: LiveOptions,
        keepsSilence: Bool,
        _ principal: Principal
    ) {
        memory = MemoryShare(of: recordings.memory, for: principal.business.rawValue)
        self.recordings = recordings
        self.place = place
        self.options = options
        self.keepsSilence = keepsSilence
        language = place.language
        self.principal = principal
    }

    private var frameSize: Int { 2 * options.channels }
    private func seconds(_ frames: Int) -> Double { Double(frames) / Double(options.sampleRate) }

    /// Moves to another transaction: further audio belongs to it, and so does audio that is in no chunk yet.
    package func move(to id: TransactionID) async throws {
        guard id != place.key.id else { return }
        place = try await recordings.locate(id, principal)
        times = [:]
        last = nil
    }

    /// Appends audio, before an engine gets it.
    /// - Parameter options: The format of the audio, which a container tells only when it comes.
    /// - Throws: As ``take(_:)``; `MemoryBudget.Exhausted` if the budget has no room in time.
    package nonisolated func take(_ audio: ByteBuffer, _ options: LiveOptions) async throws {
        try await EventLoopOffload.run(bytes: audio.readableBytes) { try await self.append(audio, options) }
    }

    private func append(_ audio: ByteBuffer, _ options: LiveOptions) async throws {
        EventLoopOffload.watch(bytes: audio.readableBytes, of: "live audio")
        try await memory.take(audio.readableBytes)
        defer { countMemory() }
        self.options = options
        pending.discardReadBytes()
        pending.writeImmutableBuffer(audio)
        while pending.readableBytes > Self.maxPending {
            let count = pending.quietestEnd(in: Self.maxPending / 2 / frameSize, options)
            storedUnrecognisedEnd = start + count
            try await storeChunk(upTo: storedUnrecognisedEnd, pending.isQuiet(upTo: count * frameSize) ? [] : nil)
            words.removeAll { $0.start < seconds(storedUnrecognisedEnd) }
        }
        while pending.readableBytes / frameSize > Self.longestPending * options.sampleRate {
            let count = Self.silenceLength * options.sampleRate
            if keepsSilence {
                try await storeChunk(upTo: start + count, [])
            } else {
                pending.moveReaderIndex(forwardBy: count * frameSize)
                start += count
            }
        }
    }

    private func countMemory() {
        memory.hold(pending.readableBytes + bytesBeingWritten + (last?.audio.readableBytes ?? 0))
    }

    /// Takes a result of an engine. A final result is stored when this returns; interim results are ignored.
    /// - Throws: ``ScribeError/invalidState(_:)`` once a request has ended the recording,
    ///   ``ScribeError/storageUnavailable(cause:)``.
    package func take(_ result: LiveResult) async throws {
        guard result.isFinal else { return }
        defer { countMemory() }
        let heardFrom = seconds(storedUnrecognisedEnd)
        words += result.words.lazy.filter { $0.start >= heardFrom }.map {
            TimedWord(text: $0.punctuated ?? $0.text, start: $0.start, end: $0.end, speaker: $0.speaker)
        }
        finalEnds[result.channel] = Int(
            saturating: ((result.start + result.duration) * Double(options.sampleRate)).rounded())
        let channels = options.multichannel ? options.channels : 1
        let end = (0..<channels).map { finalEnds[$0] ?? 0 }.min() ?? 0
        // Silence is stored with the speech after it.
        guard end > start, !words.isEmpty else { return }
        let limit = seconds(end)
        let spoken = words.filter { $0.end <= limit + 0.001 }.sorted { $0.start < $1.start }
        words.removeAll { $0.end <= limit + 0.001 }
        try await storeChunk(upTo: end, spoken)
    }

    /// Stores pending audio as chunks without transcripts. Each ends at the quietest point of its last third, so that
    /// no word is cut. At least one second stays pending, since a shorter chunk is no recording.
    /// - Throws: As ``take(_:)``.
    package func cut() async throws {
        let frames = Self.chunkLength * options.sampleRate
        defer { countMemory() }
        while pending.readableBytes / frameSize >= frames + options.sampleRate {
            try await storeChunk(upTo: start + pending.quietestEnd(in: frames, options), nil)
        }
    }

    /// Stores the rest of the audio with its words, and commits the transaction.
    package func commit() async throws {
        try await storeRest(isHeard: true)
        guard let transaction = try await recordings.store.transactions.transaction(place.key),
            let names = try await recordings.store.audio.fileNames(of: transaction)
        else { throw ScribeError.transactionNotFound }
        let files = names.filter { chunkOrdinal(ofFile: $0) != nil }
        try await recordings.transactions.commit(place.key, ChunkList(files: files, times: times))
    }

    /// Stores the rest of the audio after the stream broke off. A job recognises audio without a final result. All
    /// chunks are stored when this returns, also those that another call is writing.
    package func breakOff() async throws {
        try await storeRest(isHeard: false)
        while chunksBeingWritten > 0 { await withCheckedContinuation { waiters.append($0) } }
    }

    private func storeRest(isHeard: Bool) async throws {
        let frames = pending.readableBytes / frameSize
        guard frames > 0 else { return }
        let rest = words.sorted { $0.start < $1.start }
        words = []
        try await storeChunk(upTo: start + frames, isHeard ? rest : nil)
    }

    /// Stores audio from ``start`` to `end` as a chunk, or as a part of the last chunk.
    /// - Parameter words: The words, in seconds from the start of the stream; nil without a final result.
    private func storeChunk(upTo end: Int, _ words: [TimedWord]?) async throws {
        let count = min(end - start, pending.readableBytes / frameSize)
        guard count > 0, let audio = pending.readSlice(length: count * frameSize) else { return }
        let frames = start..<(start + count)
        start = frames.upperBound
        // No other call may join audio to this chunk meanwhile.
        let growing = words.flatMap { _ in last.flatMap { isJoined($0, at: frames.lowerBound) ? $0 : nil } }
        last = nil
        // The number is taken together with the audio, so that chunks are in order however long their writes take.
        let name = growing?.name ?? takeName()
        chunksBeingWritten += 1
        bytesBeingWritten += audio.readableBytes
        defer {
            chunksBeingWritten -= 1
            bytesBeingWritten -= audio.readableBytes
            countMemory()
            let woken = waiters
            waiters = []
            for waiter in woken { waiter.resume() }
        }
        do {
            // This task may be cancelled, and no other place holds the audio.
            let stored = try await shieldFromCancellation { [self] in
                try await store(audio, frames, words, in: growing, as: name)
            }
            times[stored.name] = ChunkTimes(
                start: seconds(stored.frames.lowerBound), end: seconds(stored.frames.upperBound))
            if words != nil, start == frames.upperBound { last = stored }
        } catch {
            // The audio is tried again, unless later audio is stored already.
            if start == frames.upperBound {
                start = frames.lowerBound
                last = growing
                var whole = audio
                whole.writeImmutableBuffer(pending)
                pending = whole
            }
            throw error
        }
    }

    private func takeName() -> String {
        defer { place.next += 1 }
        return place.nextName
    }

    /// Whether audio that begins at a frame joins a chunk.
    private func isJoined(_ chunk: TranscribedChunk, at frame: Int) -> Bool {
        chunk.frames.upperBound == frame && chunk.frames.count < Self.chunkLength * options.sampleRate
            && chunk.audio.readableBytes < Self.largestJoined
            && chunk.audio.readableBytes == chunk.frames.count * frameSize
    }

    /// Stores audio with its words, as a new chunk or joined to a stored one. A chunk that grows gets a new file: files
    /// never change, so a reader never sees half of one.
    private func store(
        _ audio: ByteBuffer, _ frames: Range<Int>, _ words: [TimedWord]?, in growing: TranscribedChunk?, as name: String
    ) async throws -> TranscribedChunk {
        guard let growing else { return try await write(audio, frames, words, as: name, insteadOf: nil) }
        var whole = growing.audio
        whole.writeImmutableBuffer(audio)
        do {
            return try await write(
                whole, growing.frames.lowerBound..<frames.upperBound, growing.words + (words ?? []), as: name,
                insteadOf: growing.eTag)
        } catch is NameConflict {
            // The client has replaced the chunk meanwhile.
            return try await write(audio, frames, words, as: takeName(), insteadOf: nil)
        }
    }

    /// Writes a WAV file and stores it as a chunk.
    /// - Parameter eTag: The ETag of the chunk that the file replaces; nil for a new chunk.
    private func write(
        _ audio: ByteBuffer, _ frames: Range<Int>, _ words: [TimedWord]?, as name: String, insteadOf eTag: String?
    ) async throws -> TranscribedChunk {
        let header = WaveHeader(.signed16, channels: options.channels, sampleRate: options.sampleRate)
        let offset = seconds(frames.lowerBound)
        let speech = words.map { words in
            RecognisedSpeech(
                text: words.map(\.text).joined(separator: " "), words: words.map { $0.later(by: -offset) })
        }
        return try await recordings.uploads.receive(
            for: place.key.business, at: (place.location.bucket, place.location.key(ofFile: name))
        ) { file in
            try await file.write(header.bytes(before: audio.readableBytes))
            try await file.write(audio)
            let written = try await file.finish()
            let kept = try await keep(&file, written, speech, as: name, insteadOf: eTag)
            return TranscribedChunk(
                name: kept, eTag: Hex.encode(written.md5), frames: frames, audio: audio, words: words ?? [])
        }
    }

    /// Stores a file as a chunk with the wanted name, or with the next free one: another socket may stream to the same
    /// transaction.
    /// - Returns: The chunk's name.
    /// - Throws: ``NameConflict`` if the chunk to replace has changed.
    private func keep(
        _ file: inout NewObject, _ written: WrittenObject, _ speech: RecognisedSpeech?, as wanted: String,
        insteadOf eTag: String?
    ) async throws -> String {
        var name = wanted
        while true {
            let object = StoredObject(
                bucket: place.location.bucket, key: place.location.key(ofFile: name), file: file.name,
                size: written.size, eTag: Hex.encode(written.md5), headers: ["content-type": "audio/wav"],
                createdAt: recordings.clock.now)
            do {
                try await recordings.uploads.keep(
                    &file, as: object, heard: speech, in: place.key, for: principal
                ) { tag in
                    if tag != eTag { throw NameConflict() }
                }
                return name
            } catch is NameConflict {
                guard eTag == nil else { throw NameConflict() }
                name = takeName()
            }
        }
    }
}
