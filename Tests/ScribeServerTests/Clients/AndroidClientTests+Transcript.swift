import Foundation
import HummingbirdCore
import Logging
import NIOPosix
import ScribeDomain
import ScribeRuntime
import ScribeStore
import TestSupport
import Testing
import Transcription

@testable import ScribeServer

extension AndroidClientTests {
    /// Says the same about every file.
    private struct OneSentence: Transcriber {
        let name = "one sentence"
        func transcribe(_ recording: Recording) async throws -> RecognisedSpeech {
            RecognisedSpeech(text: "I have had a fever for three days.")
        }
    }

    /// Writes nothing until it is let.
    private struct HeldNoteWriter: NoteWriter {
        let isInstant = false
        let name = "held"
        let gate = AsyncStream.makeStream(of: Void.self)

        func write(_ template: Template, from transcript: String) async throws -> String {
            for await _ in gate.stream {}
            return "# Note"
        }
    }

    @Test(
        "a poll for the transcript is answered while the notes are still being written", .covers("C-34"),
        .timeLimit(.minutes(1))
    )
    func transcriptFirst() async throws {
        let folder = try TemporaryFolder()
        let manual = ManualClock()
        let store = try Store(path: "\(folder.path)/scribe.sqlite", durability: .normal)
        let signals = ChangeSignals()
        let writer = HeldNoteWriter()
        let templates = try Seed.templates()
        let runner = JobRunner(
            store: store, objects: ObjectFiles(folder: folder.path, durability: .normal, pool: .singleton),
            transcriber: OneSentence(), noteWriter: writer, templates: templates, signals: signals, bell: JobBell(),
            metrics: Metrics(), clock: manual.clock, policy: .init(),
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        )
        let transaction = Transaction(
            id: .init(id),
            owner: Principal(business: .init("b"), user: .init("u"), doctor: .init("d"), client: .init("c")),
            request: TransactionRequest(transfer: .vaded, audioURL: "s3://bucket/260510/\(id)"), createdAt: manual.now
        )
        let documents = templates.documents(for: transaction.request, custom: [], identifiers: .counting())
        _ = try await store.initialise(transaction, documents: documents)
        let chunk = StoredObject(
            bucket: "bucket", key: "260510/\(id)/1.mp3", file: "aaa", size: 1, eTag: String(repeating: "a", count: 32),
            contentType: "audio/mpeg", metadata: [:], createdAt: manual.now
        )
        _ = try await store.put(chunk, business: .init("b"))
        _ = try await store.commit(transaction.key, ChunkList(files: ["1.mp3"]), at: manual.now)

        let running = Task { try await runner.run() }
        defer { running.cancel() }
        let poll = LongPoll(store: store, signals: signals, clock: manual.clock, limit: .seconds(14))
        func statuses(_ query: String) async throws -> [ResultDocument.Status] {
            let wish = ResultQuery(URI("/\(query)").queryParameters)
            let results = try await poll.results(of: transaction.key, query: wish, until: Departure())
            return wish.select(from: results.documents).map(\.status)
        }
        #expect(try await statuses(Self.transcript) == [.success])
        #expect(try await statuses("?dlp=true") == [.success, .inProgress])
        writer.gate.continuation.finish()
        #expect(try await statuses("") == [.success, .success])
    }
}
