package import Engines
import Foundation
package import NIOCore
package import ScribeDomain
import ScribeStore

/// One stream of a consultation. Nothing of what it has been told of as settled is lost by a stop.
package actor LiveRecording {
    /// What a stream is cut into, in seconds: as long as the chunks that clients cut themselves. Results are joined until
    /// there is so much of them, so that ``Limits/files`` hold more than a day.
    package static let chunkLength = 20

    private let recordings: LiveRecordings
    private var place: LiveRecordings.Place
    private let principal: Principal
    private let keepsSilence: Bool
    private var options: LiveOptions
    /// That is spoken, as the transaction has it.
    package nonisolated let language: String?
    private var times: [String: ChunkTimes] = [:]
    /// Audio that is in no chunk yet, and the frame that it begins with.
    private var pending = ByteBuffer()
    private var start = 0
    private var words: [TimedWord] = []
    /// The last chunk, while it is to have further results.
    private var last: HeardChunk?
    /// Chunks that are being written, and their bytes.
    private var chunksOnTheirWay = 0
    private var bytesOnTheirWay = 0
    private var waiters: [CheckedContinuation<Void, Never>] = []
    /// For each channel that is heard, in frames.
    private var settled: [Int: Int] = [:]
    /// The end of the audio that was kept before an engine had settled it, in frames. That audio is recognised later, so the
    /// engine's late words for it are dropped.
    private var unheard = 0
    /// Holds what is in memory.
    private let memory: MemoryShare

    /// Silence is kept with what is said after it, up to a minute.
    private static let longestSilence = 60
    /// No engine is so far behind: what is older and not settled was silence. In seconds.
    private static let longestPending = 180
    /// The most audio that waits to be settled, in bytes; beyond it half is kept as a chunk.
    private static let mostPending = 8 << 20
    /// Chunks that are larger get no further results, in bytes.
    private static let largestJoined = 4 << 20

    init(
        _ recordings: LiveRecordings, _ place: LiveRecordings.Place, _ options: LiveOptions, keepsSilence: Bool,
        _ principal: Principal
    ) {
        memory = MemoryShare(of: recordings.memory, for: principal.business)
        self.recordings = recordings
        self.place = place
        self.options = options
        self.keepsSilence = keepsSilence
        language = place.language
        self.principal = principal
    }

    private var frameSize: Int { 2 * options.channels }
    private func seconds(_ frames: Int) -> Double { Double(frames) / Double(options.sampleRate) }

    /// What comes belongs to another consultation, together with what is in no chunk yet.
    package func move(to id: TransactionID) async throws {
        guard id != place.key.id else { return }
        place = try await recordings.locate(id, principal)
        times = [:]
        last = nil
    }

    /// More audio, before an engine gets it.
    /// - Parameter options: what it is, which a container says only when it comes.
    /// - Throws: as ``heard(_:)``; `MemoryBudget.Exhausted` when there is no room for it in time.
    package nonisolated func take(_ audio: ByteBuffer, _ options: LiveOptions) async throws {
        try await LongWork.run(bytes: audio.readableBytes) { try await self.append(audio, options) }
    }

    private func append(_ audio: ByteBuffer, _ options: LiveOptions) async throws {
        LongWork.watch(bytes: audio.readableBytes, of: "live audio")
        try await memory.take(audio.readableBytes)
        defer { countMemory() }
        self.options = options
        pending.discardReadBytes()
        pending.writeImmutableBuffer(audio)
        while pending.readableBytes > Self.mostPending {
            let count = pending.quietestEnd(in: Self.mostPending / 2 / frameSize, options)
            unheard = start + count
            try await keepChunk(upTo: unheard, pending.isQuiet(upTo: count * frameSize) ? [] : nil)
            words.removeAll { $0.start < seconds(unheard) }
        }
        while pending.readableBytes / frameSize > Self.longestPending * options.sampleRate {
            let count = Self.longestSilence * options.sampleRate
            if keepsSilence {
                try await keepChunk(upTo: start + count, [])
            } else {
                pending.moveReaderIndex(forwardBy: count * frameSize)
                start += count
            }
        }
    }

    private func countMemory() {
        memory.hold(pending.readableBytes + bytesOnTheirWay + (last?.audio.readableBytes ?? 0))
    }

    /// What an engine has heard. A final result is stored when this returns.
    /// - Throws: ``ScribeError/invalidState(_:)`` once recording has ended elsewhere, ``ScribeError/storageUnavailable(cause:)``.
    package func heard(_ result: LiveResult) async throws {
        guard result.isFinal else { return }
        defer { countMemory() }
        let heardFrom = seconds(unheard)
        words += result.words.lazy.filter { $0.start >= heardFrom }.map {
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

    /// Keeps what has come as chunks, as far as it is long enough: each up to where it was quietest in its last seconds, so
    /// that no word is cut. A second is always left: what is shorter is no recording.
    /// - Throws: as ``heard(_:)``.
    package func cut() async throws {
        let frames = Self.chunkLength * options.sampleRate
        defer { countMemory() }
        while pending.readableBytes / frameSize >= frames + options.sampleRate {
            try await keepChunk(upTo: start + pending.quietestEnd(in: frames, options), nil)
        }
    }

    /// All that was to be heard was heard, and the results are wanted.
    package func commit() async throws {
        try await keepRest(isHeard: true)
        guard let transaction = try await recordings.store.transaction(place.key),
            let names = try await recordings.store.fileNames(of: transaction)
        else { throw ScribeError.transactionNotFound }
        let files = names.filter { chunkOrdinal(ofFile: $0) != nil }
        try await recordings.consultations.commit(place.key, ChunkList(files: files, times: times))
    }

    /// The stream has broken off. What was not settled of it is recognised later. All of it is stored when this returns,
    /// also what somebody else was storing.
    package func breakOff() async throws {
        try await keepRest(isHeard: false)
        while chunksOnTheirWay > 0 { await withCheckedContinuation { waiters.append($0) } }
    }

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
        let frames = start..<(start + count)
        start = frames.upperBound
        // Nobody else joins anything to it meanwhile.
        let growing = words.flatMap { _ in last.flatMap { isJoined($0, at: frames.lowerBound) ? $0 : nil } }
        last = nil
        // The number is taken with the audio, so that chunks are in its order however long they take to be written.
        let name = growing?.name ?? takeName()
        chunksOnTheirWay += 1
        bytesOnTheirWay += audio.readableBytes
        defer {
            chunksOnTheirWay -= 1
            bytesOnTheirWay -= audio.readableBytes
            countMemory()
            let woken = waiters
            waiters = []
            for waiter in woken { waiter.resume() }
        }
        do {
            // This task may be cancelled, and what was taken out is nowhere else.
            let stored = try await uncancelled { [self] in
                try await store(audio, frames, words, in: growing, as: name)
            }
            times[stored.name] = ChunkTimes(
                start: seconds(stored.frames.lowerBound), end: seconds(stored.frames.upperBound))
            if words != nil, start == frames.upperBound { last = stored }
        } catch {
            // To be tried again, unless something that follows is stored already.
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

    /// Whether what begins at a frame is to be part of a chunk.
    private func isJoined(_ chunk: HeardChunk, at frame: Int) -> Bool {
        chunk.frames.upperBound == frame && chunk.frames.count < Self.chunkLength * options.sampleRate
            && chunk.audio.readableBytes < Self.largestJoined
            && chunk.audio.readableBytes == chunk.frames.count * frameSize
    }

    /// Stores audio with what was heard in it, as a chunk of its own or together with the one before. A chunk that grows
    /// is written anew: its file never changes, so that whoever reads it has it whole.
    private func store(
        _ audio: ByteBuffer, _ frames: Range<Int>, _ words: [TimedWord]?, in growing: HeardChunk?, as name: String
    ) async throws -> HeardChunk {
        guard let growing else { return try await write(audio, frames, words, as: name, insteadOf: nil) }
        var whole = growing.audio
        whole.writeImmutableBuffer(audio)
        do {
            return try await write(
                whole, growing.frames.lowerBound..<frames.upperBound, growing.words + (words ?? []), as: name,
                insteadOf: growing.eTag)
        } catch is Taken {
            // Its client has put something else in its place.
            return try await write(audio, frames, words, as: takeName(), insteadOf: nil)
        }
    }

    /// - Parameter eTag: of what is there under that name; nil for nothing.
    private func write(
        _ audio: ByteBuffer, _ frames: Range<Int>, _ words: [TimedWord]?, as name: String, insteadOf eTag: String?
    ) async throws -> HeardChunk {
        let begun = try await recordings.uploads.begin(
            for: place.key.business, at: (place.location.bucket, place.location.key(ofFile: name)))
        var writer = begun.writer
        let header = WaveHeader(.linear(bits: 16), channels: options.channels, sampleRate: options.sampleRate)
        let written: ObjectWriter.Summary
        do {
            try await writer.write(header.bytes(before: audio.readableBytes))
            try await writer.write(audio)
            written = try await writer.finish()
        } catch {
            await writer.discard()
            throw error
        }
        let offset = seconds(frames.lowerBound)
        let speech = words.map { words in
            RecognisedSpeech(
                text: words.map(\.text).joined(separator: " "), words: words.map { $0.later(by: -offset) })
        }
        let kept = try await keep(begun.file, written, speech, as: name, insteadOf: eTag)
        return HeardChunk(
            name: kept, eTag: Hex.encode(written.md5), frames: frames, audio: audio, words: words ?? [])
    }

    /// Under that name, or the next that nobody has: another socket may be at the same consultation.
    /// - Returns: the chunk's name.
    /// - Throws: ``Taken`` where something else is there than what it is to replace.
    private func keep(
        _ file: String, _ written: ObjectWriter.Summary, _ speech: RecognisedSpeech?, as wanted: String,
        insteadOf eTag: String?
    ) async throws -> String {
        var name = wanted
        while true {
            let object = StoredObject(
                bucket: place.location.bucket, key: place.location.key(ofFile: name), file: file, size: written.size,
                eTag: Hex.encode(written.md5), contentType: "audio/wav", metadata: [:],
                createdAt: recordings.clock.now)
            do {
                try await recordings.uploads.keep(object, heard: speech, in: place.key, for: principal) { tag in
                    if tag != eTag { throw Taken() }
                }
                return name
            } catch is Taken {
                guard eTag == nil else {
                    await recordings.uploads.remove([file])
                    throw Taken()
                }
                name = takeName()
            }
        }
    }
}
