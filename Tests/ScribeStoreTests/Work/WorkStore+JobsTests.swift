import Foundation
import GRDB
import ScribeDomain
import TestSupport
import Testing

@testable import ScribeStore

struct JobStoreTests {
    @Test("a numbered chunk of an open transaction is transcribed on arrival, and other files are not")
    func early() async throws {
        let fixture = try StoreFixture()
        try await fixture.initialise()
        #expect(try await fixture.put("1.m4a").hasWork)
        #expect(try await !fixture.put("full_audio.m4a_").hasWork)
        #expect(try await !fixture.put("2.m4a", business: "b-2").hasWork)
        let job = try #require(try await fixture.claim())
        guard case .transcribe(let chunk) = job.work else {
            Issue.record("not a transcription")
            return
        }
        #expect(chunk.name == "1.m4a")
        #expect(chunk.ordinal == 1)
        #expect(try await fixture.claim() == nil, "only one claimant gets it")
    }

    @Test("several jobs are claimed at once, the earliest due first, up to the requested number")
    func severalAtOnce() async throws {
        let fixture = try StoreFixture()
        try await fixture.initialise()
        for second in 1...4 { try await fixture.put("\(second).m4a", at: fixture.start + Double(-second)) }
        let names = { (claim: Claim) -> Set<String> in
            guard case .jobs(let jobs) = claim else { return [] }
            return Set(
                jobs.map { if case .transcribe(let chunk) = $0.work { chunk.name } else { "" } })
        }
        #expect(
            names(try await fixture.store.work.claimJobs(.transcribe, upTo: 3, at: fixture.start)) == [
                "2.m4a", "3.m4a", "4.m4a",
            ])
        #expect(names(try await fixture.store.work.claimJobs(.transcribe, upTo: 3, at: fixture.start)) == ["1.m4a"])
        #expect(try await fixture.store.work.claimJobs(.transcribe, upTo: 3, at: fixture.start) == .nothing(until: nil))
    }

    @Test("tenants with pending jobs take turns, however many jobs one of them has")
    func turns() async throws {
        let fixture = try StoreFixture()
        for tenant in ["b-1", "b-2", "b-3"] {
            let owner = Principal(
                business: .init(tenant), user: .init("u"), doctor: .init("o"), client: .init("c"))
            try await fixture.initialise(owner: owner)
        }
        for number in 1...6 { try await fixture.put("\(number).m4a", business: "b-1") }
        for tenant in ["b-2", "b-3"] {
            for number in 1...2 { try await fixture.put("\(number).m4a", business: tenant, at: fixture.start) }
        }
        var served: [String] = []
        for limit in [1, 2, 3, 5] {
            guard
                case .jobs(let jobs) = try await fixture.store.work.claimJobs(
                    .transcribe, upTo: limit, at: fixture.start)
            else {
                continue
            }
            #expect(jobs.count <= limit)
            served += jobs.map(\.transaction.business.rawValue).sorted()
        }
        #expect(served.count == 10)
        #expect(Set(served[..<3]) == ["b-1", "b-2", "b-3"])
        #expect(Set(served[3..<6]) == ["b-1", "b-2", "b-3"])
        #expect(Set(served[6...]) == ["b-1"])
    }

    @Test("a chunk that is uploaded again is transcribed again only if its bytes differ")
    func contentHash() async throws {
        let fixture = try StoreFixture()
        try await fixture.initialise()
        try await fixture.put("1.m4a", eTag: "a")
        try await fixture.finish(try #require(try await fixture.claim()), "first")
        try await fixture.put("1.m4a", eTag: "a")
        #expect(try await fixture.claim() == nil)
        try await fixture.put("1.m4a", eTag: "b")
        #expect(try await fixture.claim() != nil)
    }

    @Test("a chunk that is replaced during its transcription is transcribed again")
    func replacedMeanwhile() async throws {
        let fixture = try StoreFixture()
        try await fixture.initialise()
        try await fixture.put("1.m4a", eTag: "a")
        let job = try #require(try await fixture.claim())
        try await fixture.put("1.m4a", eTag: "b")
        try await fixture.finish(job, "of the old bytes")
        let again = try #require(try await fixture.claim())
        guard case .transcribe(let chunk) = again.work else {
            Issue.record("not a transcription")
            return
        }
        #expect(chunk.eTag.first == "b")
    }

    @Test("a chunk that waits for transcription gets the languages of a later patch")
    func changedLanguages() async throws {
        let fixture = try StoreFixture()
        try await fixture.initialise()
        try await fixture.put("1.m4a")
        var patch = TransactionPatch()
        patch.inputLanguages = ["hi", "ta"]
        let change = patch
        try await fixture.store.transactions.update(fixture.key(), at: fixture.start) {
            $0.apply(change, at: fixture.start)
        }
        let job = try #require(try await fixture.claim())
        guard case .transcribe(let chunk) = job.work else {
            Issue.record("not a transcription")
            return
        }
        #expect(chunk.languages == ["hi", "ta"])
    }

    @Test("the store returns the file of a replaced object for removal")
    func replacedFile() async throws {
        let fixture = try StoreFixture()
        #expect(try await fixture.replace("1.m4a") == [])
        let first = try #require(
            try await fixture.store.audio.object(business: .init("b-1"), bucket: "bucket", key: "260510/t/1.m4a")
        )
        #expect(try await fixture.replace("1.m4a") == [first.file])
        #expect(try await fixture.store.audio.unusedFiles(among: [first.file]) == [first.file])
    }

    @Test("a commit drops the transcripts and jobs of chunks that it does not list")
    func unlisted() async throws {
        let fixture = try StoreFixture()
        try await fixture.initialise()
        for name in ["1.m4a", "2.m4a", "3.m4a"] { try await fixture.put(name) }
        try await fixture.finish(try #require(try await fixture.claim()), "one")
        try await fixture.finish(try #require(try await fixture.claim()), "two")
        let running = try #require(try await fixture.claim())
        try await fixture.commit(["1.m4a"])
        try await fixture.finish(running, "three")
        let job = try #require(try await fixture.claim())
        #expect(job.work == .assemble())
        guard case .ready(let input) = try await fixture.store.work.planAssembly(job, objectWait: 10, at: fixture.start)
        else {
            Issue.record("not ready")
            return
        }
        #expect(input.outcomes.map(\.file) == ["1.m4a"])
        let kept = try await fixture.store.read {
            try $0.rows("SELECT file_name FROM chunk_transcripts").count
        }
        #expect(kept == 1)
    }

    @Test("the assembly job waits for the transcriptions, and the last of them wakes it")
    func waitsForTranscriptions() async throws {
        let fixture = try StoreFixture()
        try await fixture.initialise()
        try await fixture.commit(["1.m4a", "2.m4a"])
        try await fixture.put("1.m4a")
        try await fixture.put("2.m4a")
        let assembly = try #require(try await fixture.claim(.assemble))
        #expect(try await fixture.store.work.planAssembly(assembly, objectWait: 10, at: fixture.start) == .waiting)
        let first = try #require(try await fixture.claim())
        let second = try #require(try await fixture.claim())
        try await fixture.finish(first, "one")
        #expect(try await fixture.claim() == nil)
        try await fixture.finish(second, "two")
        #expect(try await fixture.claim()?.work == .assemble())
    }

    @Test("the assembly job waits for a late file, and then runs without it")
    func waitsForAudio() async throws {
        let fixture = try StoreFixture()
        try await fixture.initialise()
        try await fixture.commit(["1.m4a"])
        let job = try #require(try await fixture.claim())
        #expect(try await fixture.store.work.planAssembly(job, objectWait: 10, at: fixture.start) == .waiting)
        #expect(try await fixture.claim(at: fixture.start.addingTimeInterval(9.9)) == nil)
        let deadline = fixture.start.addingTimeInterval(10)
        #expect(
            try await fixture.store.work.claimJobs(.assemble, upTo: 1, at: fixture.start) == .nothing(until: deadline))
        let again = try #require(try await fixture.claim(at: deadline))
        guard case .ready(let input) = try await fixture.store.work.planAssembly(again, objectWait: 10, at: deadline)
        else {
            Issue.record("not ready")
            return
        }
        #expect(input.outcomes.map(\.failure?.code) == [.audioMissing])
    }

    @Test("a late file's arrival wakes the assembly job at once")
    func lateAudioArrives() async throws {
        let fixture = try StoreFixture()
        try await fixture.initialise()
        try await fixture.commit(["1.m4a"])
        let job = try #require(try await fixture.claim())
        _ = try await fixture.store.work.planAssembly(job, objectWait: 10, at: fixture.start)
        let soon = fixture.start.addingTimeInterval(1)
        #expect(try await fixture.put("1.m4a", at: soon).hasWork)
        #expect(try await fixture.claim(.assemble, at: soon)?.work == .assemble())
    }

    @Test("results of an earlier commit do not replace those of a later commit")
    func generations() async throws {
        let fixture = try StoreFixture()
        try await fixture.initialise()
        for name in ["1.m4a", "2.m4a"] {
            try await fixture.put(name)
            try await fixture.finish(try #require(try await fixture.claim()), name)
        }
        try await fixture.commit(["1.m4a"])
        let job = try #require(try await fixture.claim())
        guard case .ready(let input) = try await fixture.store.work.planAssembly(job, objectWait: 10, at: fixture.start)
        else {
            Issue.record("not ready")
            return
        }
        try await fixture.commit(["1.m4a", "2.m4a"])
        var documents = input.documents
        for index in documents.indices {
            documents[index].status = .success
            documents[index].value = "stale"
        }
        try await fixture.store.work.finish(job, for: input, documents: documents, outcome: .success, at: fixture.start)
        let results = try #require(try await fixture.store.transactions.results(of: fixture.key()))
        #expect(results.documents.allSatisfy { $0.status == .inProgress })
        #expect(try await fixture.claim(.assemble)?.work == .assemble(), "the job goes again")
    }

}
