import Basics
import Foundation
import GRDB
import ScribeDomain
import TestSupport
import Testing

@testable import ScribeStore

struct StatementCountTests {
    @Test("a consultation of five chunks runs at most 27 statements in its writes")
    func consultation() async throws {
        let fixture = try StoreFixture(transcribesOnArrival: false, onSQLite: true)
        let (store, names) = (fixture.store, (1...5).map { "\($0).wav" })
        // Caches are filled as a server's are.
        try await fixture.initialise("earlier")
        let statements = LockedValue<[String]>([])
        try await store.sqlite.pool.writeWithoutTransaction { db in
            db.trace { event in
                guard case .statement(let statement) = event, !statement.sql.hasPrefix("--") else { return }
                let sql = statement.sql
                if sql.hasPrefix("BEGIN") || sql.hasPrefix("COMMIT") { return }
                statements.withLock { $0.append(sql) }
            }
        }
        try await fixture.initialise()
        for name in names { try await fixture.put(name) }
        try await store.transactions.update(fixture.key(), at: fixture.start) { (transaction) throws(ScribeError) in
            try transaction.stop(ChunkList(files: names))
        }
        fixture.changes.forget()
        try await store.transactions.commit(fixture.key(), ChunkList(files: names), at: fixture.start)
        let job = try #require(fixture.changes.claimed)
        guard case .assemble(let input?) = job.work else {
            Issue.record("\(job.work)")
            return
        }
        let heard: [TranscribedChunk] = input.chunks.compactMap { chunk in
            guard case .unheard(let chunk, _) = chunk else { return nil }
            return (chunk, .success(RecognisedSpeech(text: chunk.name)))
        }
        #expect(heard.count == 5)
        var documents = input.documents
        for index in documents.indices { (documents[index].status, documents[index].value) = (.success, "text") }
        let end = try await store.work.finish(
            job, for: input, heard: heard, documents: documents, outcome: .success, at: fixture.start)
        #expect(end == .stored)
        let counted = statements.withLock { $0 }
        #expect(counted.count <= 27, "\(counted.joined(separator: "\n"))")
        #expect(counted.count > 20, "the count sees the statements")
        let results = try #require(try await store.transactions.results(of: fixture.key()))
        #expect(results.documents.map(\.status) == [.success, .success])
        let speech = try await store.transactions.recordingSpeech(fixture.key())
        #expect(speech.mapValues(\.text) == Dictionary(uniqueKeysWithValues: names.map { ($0, $0) }))
    }
}
