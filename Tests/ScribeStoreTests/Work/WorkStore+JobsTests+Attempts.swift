import Foundation
import GRDB
import ScribeDomain
import TestSupport
import Testing

@testable import ScribeStore

extension JobStoreTests {
    @Test("jobs that were running when the process died are claimed again after the next start")
    func restart() async throws {
        let fixture = try StoreFixture()
        try await fixture.initialise()
        try await fixture.put("1.m4a")
        _ = try await fixture.claim()
        try fixture.store.close()
        let store = try fixture.reopened()
        guard case .jobs(let jobs) = try await store.work.claimJobs(.transcribe, upTo: 1, at: fixture.start),
            let job = jobs.first
        else {
            Issue.record("no job")
            return
        }
        #expect(job.attempt == 2)
    }

    @Test("a postponed job is claimed when its time has come")
    func postponed() async throws {
        let fixture = try StoreFixture()
        try await fixture.initialise()
        try await fixture.put("1.m4a")
        let job = try #require(try await fixture.claim())
        let later = fixture.start.addingTimeInterval(5)
        try await fixture.store.work.postpone(job, until: later, countsAttempt: false)
        #expect(try await fixture.claim() == nil)
        #expect(try await fixture.claim(at: later)?.attempt == 1)
    }

    @Test("a late result of a deleted transaction's job does not affect the job that has its row now")
    func late() async throws {
        let fixture = try StoreFixture()
        try await fixture.initialise()
        try await fixture.put("1.m4a")
        let late = try #require(try await fixture.claim())
        try await fixture.store.transactions.update(fixture.key(), at: fixture.start) {
            transaction throws(ScribeError) in
            try transaction.archive(by: transaction.owner.user, at: fixture.start)
        }
        try await fixture.initialise("t-2")
        try await fixture.put("1.m4a")
        let job = try #require(try await fixture.claim())
        #expect(job.transaction.id == .init("t-2"))
        try await fixture.finish(late, "of the first")
        try await fixture.store.work.postpone(late, until: fixture.start, countsAttempt: true)
        #expect(try await fixture.claim() == nil, "it is still being done")
        #expect(job.id != late.id)
    }

    @Test("a further commit repeats only recognitions that failed for reasons other than the audio")
    func curable() async throws {
        for (code, effect) in [(Diagnostic.Code.transcriptionFailed, Transaction.Effect.process), (.noSpeech, .none)] {
            let fixture = try StoreFixture()
            try await fixture.initialise()
            for name in ["1.m4a", "2.m4a"] { try await fixture.put(name) }
            try await fixture.finish(try #require(try await fixture.claim()), "one")
            let second = try #require(try await fixture.claim())
            guard case .transcribe(let chunk) = second.work else {
                Issue.record("not a transcription")
                return
            }
            // What failed before commit is tried again by commit itself.
            try await fixture.commit(["1.m4a", "2.m4a"])
            try await fixture.store.work.finishTranscription(
                second, of: chunk, result: .failure(Diagnostic(code, "")), at: fixture.start)
            let job = try #require(try await fixture.claim(.assemble))
            guard
                case .ready(let input) = try await fixture.store.work.planAssembly(
                    job, objectWait: 10, at: fixture.start)
            else {
                Issue.record("not ready")
                return
            }
            try await fixture.store.work.finish(job, for: input, documents: [], outcome: .success, at: fixture.start)
            #expect(try await fixture.commit(["1.m4a", "2.m4a"]) == effect)
            let again = try await fixture.store.work.planAssembly(
                Job(id: 99, transaction: fixture.key(), attempt: 1, generation: 1, work: .assemble()),
                objectWait: 10, at: fixture.start)
            #expect((again == .waiting) == (effect == .process), "2.m4a is heard again")
        }
    }
}
