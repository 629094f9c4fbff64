import Foundation
import GRDB
import ScribeDomain
import TestSupport
import Testing

@testable import ScribeStore

/// What commit hands over, and what whoever assembles has to hear.
struct AssemblyStoreTests {
    private func commit(_ files: [String], in fixture: StoreFixture) async throws -> Job? {
        fixture.changes.forget()
        try await fixture.store.transactions.commit(fixture.key(), ChunkList(files: files), at: fixture.start)
        return fixture.changes.claimed
    }

    private func input(of job: Job?) throws -> AssemblyInput {
        guard case .assemble(let input?) = job?.work else { throw Missing() }
        return input
    }

    private struct Missing: Error {}

    @Test("a commit with all chunks transcribed returns a claimed assembly job, which nobody else can claim")
    func handsOver() async throws {
        let fixture = try StoreFixture()
        try await fixture.initialise()
        try await fixture.put("1.m4a")
        try await fixture.finish(try #require(try await fixture.claim()), "one")
        let job = try await commit(["1.m4a"], in: fixture)
        #expect(try input(of: job).outcomes.map(\.file) == ["1.m4a"])
        #expect(try await fixture.claim() == nil)
        let waiting = try #require(job)
        #expect(waiting.attempt == 1)
        try await fixture.store.work.postpone(waiting, until: fixture.start, countsAttempt: false)
        #expect(try await fixture.claim()?.attempt == 1, "to wait for its turn was no attempt")
    }

    @Test("a failed attempt counts once, whether the job was handed over or claimed")
    func attempts() async throws {
        let fixture = try StoreFixture(transcribesOnArrival: false)
        try await fixture.initialise()
        try await fixture.put("1.m4a")
        var job = try #require(try await commit(["1.m4a"], in: fixture))
        for attempt in 1...3 {
            #expect(job.attempt == attempt)
            try await fixture.store.work.postpone(job, until: fixture.start, countsAttempt: true)
            job = try #require(try await fixture.claim())
        }
    }

    @Test("a commit hands no job over while another one is due, and leaves it to the turns of the tenants")
    func turns() async throws {
        let fixture = try StoreFixture(transcribesOnArrival: false)
        try await fixture.initialise()
        try await fixture.put("1.m4a")
        let first = try #require(try await commit(["1.m4a"], in: fixture))
        let other = Principal(business: .init("b-2"), user: .init("u"), doctor: .init("o"), client: .init("c-2"))
        func handed(_ id: String) async throws -> Bool {
            let key = fixture.key(id, business: "b-2")
            try await fixture.initialise(id, owner: other)
            fixture.changes.forget()
            try await fixture.store.transactions.commit(key, ChunkList(files: []), at: fixture.start)
            return fixture.changes.claimed != nil
        }
        #expect(try await handed("t-1"), "a running job waits for no turn")
        try await fixture.store.work.postpone(first, until: fixture.start.addingTimeInterval(1), countsAttempt: true)
        #expect(try await handed("t-2"), "it is not due")
        try await fixture.store.work.wakeAssembly(of: fixture.key(), at: fixture.start)
        #expect(try await !handed("t-3"))
    }

    @Test("a commit leaves the assembly job to be claimed while a transcription or a file is missing")
    func leaves() async throws {
        let fixture = try StoreFixture()
        try await fixture.initialise()
        try await fixture.put("1.m4a")
        #expect(try await commit(["1.m4a"], in: fixture) == nil)
        #expect(try await commit(["1.m4a", "2.m4a"], in: fixture) == nil)
        let late = try StoreFixture(transcribesOnArrival: false)
        try await late.initialise()
        #expect(try await commit(["1.m4a"], in: late) == nil)
        #expect(try await late.claim()?.work == .assemble())
    }

    @Test("a returned assembly job of a process that died is claimed again after the next start")
    func restart() async throws {
        let fixture = try StoreFixture(transcribesOnArrival: false)
        try await fixture.initialise()
        try await fixture.put("1.m4a")
        #expect(try await commit(["1.m4a"], in: fixture) != nil)
        try fixture.store.close()
        let store = try fixture.reopened()
        guard case .jobs(let jobs) = try await store.work.claimJobs(.assemble, upTo: 4, at: fixture.start) else {
            Issue.record("no job")
            return
        }
        #expect(jobs.map(\.work) == [.assemble()])
    }

    @Test("without transcription on arrival the assembly job lists the untranscribed chunks and keeps their results")
    func unheard() async throws {
        let fixture = try StoreFixture(transcribesOnArrival: false)
        try await fixture.initialise()
        #expect(try await !fixture.put("1.m4a").hasWork)
        try await fixture.put("last.m4a")
        let job = try #require(try await commit(["1.m4a", "last.m4a"], in: fixture))
        let input = try input(of: job)
        let unheard = input.chunks.compactMap { chunk -> ChunkToTranscribe? in
            if case .unheard(let chunk, _) = chunk { chunk } else { nil }
        }
        #expect(unheard.map(\.name) == ["1.m4a", "last.m4a"])
        #expect(unheard.map(\.ordinal) == [1, 2], "its number, or its position")
        let heard = unheard.map { ($0, Result<_, Diagnostic>.success(RecognisedSpeech(text: $0.name))) }
        #expect(
            try await fixture.store.work.finish(
                job, for: input, heard: heard, documents: [], outcome: .success, at: fixture.start) == .stored)

        try await fixture.put("2.m4a")
        let again = try await commit(["1.m4a", "last.m4a", "2.m4a"], in: fixture)
        let chunks = try self.input(of: again).chunks
        #expect(chunks.count == 3)
        #expect(
            try self.input(of: again).outcomes.map { try? $0.result.get().text } == ["1.m4a", "last.m4a"],
            "only the third is new")
    }

    @Test("an assembly job runs again if its transcript was corrected or its audio replaced meanwhile")
    func outdated() async throws {
        let correct = { (fixture: StoreFixture) in
            let edit = ResultEdit(target: .template(.init("transcript")), value: "corrected")
            try await fixture.store.documents.edit(fixture.key(), [edit], at: fixture.start)
        }
        let replace = { (fixture: StoreFixture) in _ = try await fixture.put("1.m4a", eTag: "b") }
        for change in [correct, replace] {
            let fixture = try StoreFixture()
            try await fixture.initialise()
            try await fixture.put("1.m4a")
            try await fixture.finish(try #require(try await fixture.claim()), "one")
            let job = try #require(try await commit(["1.m4a"], in: fixture))
            try await change(fixture)
            let end = try await fixture.store.work.finish(
                job, for: input(of: job), documents: [], outcome: .success, at: fixture.start)
            #expect(end == .outdated)
            #expect(try await fixture.claim()?.work == .assemble())
        }
    }

    @Test("an abandoned assembly job does not end the processing of a later commit")
    func abandoned() async throws {
        let fixture = try StoreFixture(transcribesOnArrival: false)
        try await fixture.initialise()
        for name in ["1.m4a", "2.m4a"] { try await fixture.put(name) }
        let first = try #require(try await commit(["1.m4a"], in: fixture))
        try await fixture.commit(["1.m4a", "2.m4a"])
        let failure = Diagnostic(.processingFailed, "")
        try await fixture.store.work.abandon(first, because: failure, at: fixture.start)
        let second = try #require(try await fixture.claim())
        #expect(second.work == .assemble())
        #expect(try await fixture.store.transactions.transaction(fixture.key())?.processingStatus == .inProgress)
        try await fixture.store.work.abandon(second, because: failure, at: fixture.start)
        #expect(try await fixture.store.transactions.transaction(fixture.key())?.processingStatus == .systemFailure)
    }

    @Test("a repeated commit does nothing if a person wrote the transcript, though no audio was transcribed")
    func correctedBefore() async throws {
        let fixture = try StoreFixture(transcribesOnArrival: false)
        try await fixture.initialise()
        try await fixture.put("1.m4a")
        let edit = ResultEdit(target: .template(.init("transcript")), value: "said")
        try await fixture.store.documents.edit(fixture.key(), [edit], at: fixture.start)
        let job = try #require(try await commit(["1.m4a"], in: fixture))
        try await fixture.store.work.finish(
            job, for: input(of: job), documents: [], outcome: .success, at: fixture.start)
        #expect(try await fixture.commit(["1.m4a"]) == .none)
    }

    @Test("the transcript of a replaced chunk is not returned while the new one is missing")
    func replacedChunk() async throws {
        let fixture = try StoreFixture(transcribesOnArrival: false)
        try await fixture.initialise()
        for (eTag, text) in [(Character("a"), "old"), ("b", "new")] {
            #expect(try await fixture.put("1.m4a", eTag: eTag).transactions == [fixture.key()])
            #expect(try await fixture.store.documents.chunkTranscript(of: fixture.key(), file: "1.m4a") == nil)
            _ = try await fixture.store.work.requestTranscription(of: "1", in: fixture.key(), at: fixture.start)
            try await fixture.finish(try #require(try await fixture.claim()), text)
            let found = try await fixture.store.documents.chunkTranscript(of: fixture.key(), file: "1.m4a")
            #expect(try found?.result.get().text == text)
        }
    }

    @Test("an unnumbered file before commit, or a file outside the commit, is not transcribed on request")
    func notOnDemand() async throws {
        let fixture = try StoreFixture(transcribesOnArrival: false)
        try await fixture.initialise()
        for name in ["intro.m4a", "1.m4a", "2.m4a"] { try await fixture.put(name) }
        let request = {
            try await fixture.store.work.requestTranscription(of: $0, in: fixture.key(), at: fixture.start)
        }
        #expect(try await !request("intro.m4a"))
        try await fixture.commit(["1.m4a", "intro.m4a"])
        #expect(try await request("intro.m4a"))
        #expect(try await !request("2.m4a"))
    }

    @Test("a chunk is transcribed before commit on request, by its name or its number")
    func onDemand() async throws {
        let fixture = try StoreFixture(transcribesOnArrival: false)
        try await fixture.initialise()
        for name in ["1.m4a", "2.m4a"] { try await fixture.put(name) }
        let request = {
            try await fixture.store.work.requestTranscription(of: $0, in: fixture.key(), at: fixture.start)
        }
        #expect(try await request("2.m4a"))
        #expect(try await request("1"))
        #expect(try await !request("3"))
        for expected in ["2.m4a", "1.m4a"] {
            let job = try #require(try await fixture.claim())
            guard case .transcribe(let chunk) = job.work else {
                Issue.record("not a transcription")
                return
            }
            #expect(chunk.name == expected)
            try await fixture.finish(job, "heard")
        }
        #expect(try await fixture.store.documents.chunkTranscript(of: fixture.key(), file: "1") != nil)
        let job = try await commit(["1.m4a", "2.m4a"], in: fixture)
        #expect(try input(of: job).outcomes.count == 2, "nothing is heard twice")
    }

    @Test("a transaction that was cancelled during its assembly is not reported as finished")
    func cancelledMeanwhile() async throws {
        let fixture = try StoreFixture(transcribesOnArrival: false)
        try await fixture.initialise()
        try await fixture.put("1.m4a")
        let job = try #require(try await commit(["1.m4a"], in: fixture))
        var patch = TransactionPatch()
        patch.isCancellation = true
        let cancellation = patch
        try await fixture.store.transactions.update(fixture.key(), at: fixture.start) {
            $0.apply(cancellation, at: fixture.start)
        }
        fixture.changes.forget()
        let end = try await fixture.store.work.finish(
            job, for: input(of: job), documents: [], outcome: .success, at: fixture.start)
        #expect(end == .obsolete)
        #expect(fixture.changes.all.isEmpty, "nobody is told of what did not happen")
        #expect(try await fixture.store.transactions.transaction(fixture.key())?.processingStatus == .cancelled)
    }
}
