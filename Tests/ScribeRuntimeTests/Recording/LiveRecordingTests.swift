import Basics
import Foundation
import NIOCore
import NIOPosix
import ObjectStorage
import ScribeDomain
import TestSupport
import Testing

@testable import Engines
@testable import ScribeRuntime
@testable import ScribeStore

struct LiveRecordingTests {
    private static let rate = 100
    private let manual = ManualClock()
    private let folder: TemporaryFolder
    private let store: Store
    private let objects: ObjectFiles
    private let recordings: LiveRecordings
    private let memory: MemoryBudget
    private let owner = Principal(business: .init("b-1"), user: .init("u"), doctor: .init("d"), client: .init("c"))
    private var key: Transaction.Key { .init(business: owner.business, id: .init("t")) }
    private let options: LiveOptions = {
        var options = LiveOptions()
        options.sampleRate = rate
        return options
    }()

    init() throws {
        folder = try TemporaryFolder()
        store = try Store(at: TestDatabase.place("\(folder.path)/scribe.sqlite"))
        objects = ObjectFiles(
            folder: "\(folder.path)/objects", durability: .normal, identifiers: .counting(), pool: .singleton)
        try FileManager.default.createDirectory(atPath: "\(folder.path)/objects", withIntermediateDirectories: true)
        let changes = ChangeHub()
        let template = Template(id: .init("notes"), name: "Notes", format: .markdown, bucket: .custom, sections: [])
        let transactions = Transactions(
            store: store, templates: TemplateCatalogue([template]), fixtureBehaviour: .idle, signals: changes.signals,
            identifiers: WorldIdentifiers(.counting()), clock: manual.world)
        let uploads = Uploads(
            store: store, objects: objects, reserve: StorageReserve(path: "\(folder.path)/reserve", pool: .singleton),
            fixtureBehaviour: .idle)
        memory = MemoryBudget(limit: 256 << 20, free: 0, clock: manual.clock)
        recordings = LiveRecordings(
            store: store, uploads: uploads, transactions: transactions, memory: memory, clock: manual.world)
    }

    private func begin() async throws -> LiveRecording {
        let transaction = Transaction(
            id: key.id, owner: owner, request: TransactionRequest(transfer: .vaded, audioURL: "s3://bucket/1/t"),
            createdAt: manual.now)
        let transcript = ResultDocument(
            id: .init("d-1"), kind: .transcript, templateID: ResultDocument.transcriptTemplate, name: "Transcript",
            format: .transcript)
        _ = try await store.transactions.initialise(transaction, documents: [transcript])
        return try await recordings.open(key.id, options, for: owner)
    }

    /// Samples that tell where they are.
    private func audio(_ frames: Range<Int>) -> ByteBuffer {
        var buffer = ByteBuffer()
        for frame in frames { buffer.writeInteger(Int16(truncatingIfNeeded: frame), endianness: .little) }
        return buffer
    }

    /// A second of audio in which a word is said, and its final result.
    private func say(_ second: Int, to recording: LiveRecording, length: Double = 1) async throws {
        let frames = Int(length * Double(Self.rate))
        try await recording.take(audio(second * Self.rate..<(second * Self.rate + frames)), options)
        let word = LiveWord(
            text: "w\(second)", punctuated: nil, start: Double(second), end: Double(second) + 0.5, confidence: 1,
            speaker: nil, language: nil)
        try await recording.take(
            LiveResult(
                channel: 0, start: Double(second), duration: length, words: [word], isFinal: true, speechFinal: true,
                fromFinalize: false))
    }

    private func chunks() async throws -> [StoredObject] {
        try await store.audio.objects(business: owner.business, bucket: "bucket", from: "1/t/", after: "", limit: 100)
            .sorted { $0.key.localizedStandardCompare($1.key) == .orderedAscending }
    }

    private func samples() async throws -> ByteBuffer {
        var whole = ByteBuffer()
        for chunk in try await chunks() {
            let reader = try #require(try await objects.open(chunk.file))
            var bytes = try await reader.read(0..<chunk.size)
            bytes.moveReaderIndex(forwardBy: 44)
            whole.writeBuffer(&bytes)
        }
        return whole
    }

    @Test("a live recording joins results into chunks of twenty seconds, and stores each result at once")
    func joining() async throws {
        let recording = try await begin()
        for second in 0..<300 {
            try await say(second, to: recording)
            let name = "\(second / 20 + 1).wav"
            let told = try #require(try await store.documents.chunkTranscript(of: key, file: name))
            #expect(try told.result.get().text.hasSuffix("w\(second)"))
        }
        #expect(try await chunks().map(\.key) == (1...15).map { "1/t/\($0).wav" })
        #expect(try await samples() == audio(0..<300 * Self.rate))
        let left = try FileManager.default.subpathsOfDirectory(atPath: "\(folder.path)/objects").count {
            $0.contains("/")
        }
        #expect(left == 15, "what was written anew leaves nothing")
        try await recording.commit()
        let transaction = try #require(try await store.transactions.transaction(key))
        #expect(transaction.committedFiles.count == 15)
        #expect(transaction.stopped.times["2.wav"] == ChunkTimes(start: 20, end: 40))
        let speech = try #require(try await store.documents.chunkTranscript(of: key, file: "2.wav")).result.get()
        #expect(speech.words.map(\.text) == (20..<40).map { "w\($0)" })
        #expect(speech.words.first?.start == 0)
    }

    @Test("a day of short live results makes no more files than a transaction may have")
    func day() {
        #expect(24 * 60 * 60 / LiveRecording.chunkLength <= Limits.files)
    }

    @Test("audio without a result becomes a chunk of its own, and so does the audio after it")
    func unheard() async throws {
        let recording = try await begin()
        try await say(0, to: recording)
        try await recording.take(audio(100..<150), options)
        try await recording.breakOff()
        #expect(try await chunks().map(\.size) == [244, 144])
        let again = try await recordings.open(key.id, options, for: owner)
        try await say(0, to: again)
        #expect(try await chunks().count == 3)
    }

    /// Eight channels of 48 kHz: eleven seconds of them are eight megabytes.
    private static let wide: LiveOptions = {
        var options = LiveOptions()
        options.sampleRate = 48_000
        options.channels = 8
        return options
    }()

    private func wideSecond(of byte: UInt8) -> ByteBuffer { ByteBuffer(repeating: byte, count: 16 * 48_000) }

    /// Of the chunks' samples, in bytes.
    private func size() async throws -> Int { try await chunks().reduce(0) { $0 + $1.size - 44 } }

    @Test("at most eight megabytes of a live recording wait for results, and stored audio is transcribed once")
    func unsettled() async throws {
        let recording = try await begin()
        for _ in 0..<13 { try await recording.take(wideSecond(of: 35), Self.wide) }
        let kept = try #require(try await chunks().first)
        #expect((3 << 20...4 << 20).contains(kept.size - 44))
        #expect(try await store.documents.chunkTranscript(of: key, file: "1.wav") == nil, "it is yet to be heard")
        let end = Double(kept.size - 44) / Double(16 * 48_000)
        func word(_ text: String, _ start: Double) -> LiveWord {
            LiveWord(
                text: text, punctuated: nil, start: start, end: start + 0.2, confidence: 1, speaker: nil, language: nil)
        }
        try await recording.take(
            LiveResult(
                channel: 0, start: 0, duration: 13, words: [word("kept", end - 0.5), word("new", end + 0.5)],
                isFinal: true, speechFinal: true, fromFinalize: false))
        let heard = try #require(try await store.documents.chunkTranscript(of: key, file: "2.wav"))
        #expect(try heard.result.get().words.map(\.text) == ["new"])
        #expect(try await size() == 13 * 16 * 48_000)
    }

    @Test("silence in a live recording is stored as heard without a recognition")
    func wideSilence() async throws {
        let recording = try await begin()
        for _ in 0..<13 { try await recording.take(wideSecond(of: 0), Self.wide) }
        let heard = try #require(try await store.documents.chunkTranscript(of: key, file: "1.wav"))
        #expect(try heard.result.get().text.isEmpty)
        #expect(memory.total <= 12 << 20)
        try await recording.breakOff()
        #expect(memory.total == 0)
        #expect(try await size() == 13 * 16 * 48_000)
    }

    @Test("a live recording refuses audio beyond the memory budget, and keeps the audio before it")
    func noRoom() async throws {
        let recording = try await begin()
        let other = MemoryShare(of: memory, for: "other")
        try await recording.take(audio(0..<100), options)
        #expect(other.takeAtOnce(128 << 20))
        let own = MemoryShare(of: memory, for: owner.business.rawValue)
        #expect(own.takeAtOnce((128 << 20) - 200))
        let taking = Task { try await recording.take(audio(100..<200), options) }
        try await manual.waitFor(.memory)
        manual.advance(by: .seconds(10))
        await #expect(throws: MemoryBudget.Exhausted.self) { try await taking.value }
        try await recording.breakOff()
        #expect(try await samples() == audio(0..<100))
    }

    @Test("a live recording leaves a chunk that its client has replaced, and begins another")
    func replaced() async throws {
        let recording = try await begin()
        try await say(0, to: recording)
        let other = StoredObject(
            bucket: "bucket", key: "1/t/1.wav", file: "other", size: 7, eTag: String(repeating: "b", count: 32),
            createdAt: manual.now)
        _ = try await store.audio.put(other, business: owner.business)
        try await say(1, to: recording)
        try await say(2, to: recording)
        #expect(try await chunks().map(\.size) == [7, 444])
    }

    @Test("a live result that cannot be stored throws, and is stored with the next result")
    func failing() async throws {
        let recording = try await begin()
        try await say(0, to: recording)
        let objectsFolder = "\(folder.path)/objects"
        try FileManager.default.moveItem(atPath: objectsFolder, toPath: objectsFolder + "-away")
        await #expect(throws: (any Error).self) { try await say(1, to: recording) }
        try FileManager.default.moveItem(atPath: objectsFolder + "-away", toPath: objectsFolder)
        try await say(2, to: recording)
        #expect(try await chunks().map(\.key) == ["1/t/1.wav"])
        #expect(try await samples() == audio(0..<300))
    }
}
