import Foundation
import ScribeDomain
import TestSupport
import Testing

@testable import ScribeRuntime
@testable import ScribeStore

struct JobSearchTests {
    private struct Busy: Error {}

    let inbox = JobInbox()
    let manual = ManualClock()

    private func job(_ id: Int64) -> Job {
        Job(
            id: id, transaction: .init(business: .init("b-1"), id: .init("t")), attempt: 1, generation: 1,
            work: .assemble())
    }

    /// A search of a store in which nothing is left to do before `next`.
    private func idleSearch(until next: Date? = nil) async throws -> JobSearch {
        var search = JobSearch(inbox: inbox)
        #expect(try await search.jobs(upTo: 1, at: manual.now) { _, _ in .nothing(until: next) }.isEmpty)
        return search
    }

    @Test("a wake-up is kept while delivered jobs use all free slots")
    func ringIsKept() async throws {
        for takesOneBefore in [false, true] {
            var search = try await idleSearch()
            if takesOneBefore {
                inbox.deliver(job(9))
                _ = try await search.jobs(upTo: 1, at: manual.now) { _, _ in .nothing(until: nil) }
            }
            inbox.deliver(job(1))
            inbox.wakeup.wake()
            var found: [Job] = []
            for _ in 0..<2 {
                found += try await search.jobs(upTo: 1, at: manual.now) { _, _ in .jobs([job(2)]) }
            }
            #expect(Set(found.map(\.id)) == [1, 2])
        }
    }

    @Test("delivered jobs and jobs of the store take turns")
    func fair() async throws {
        var search = JobSearch(inbox: inbox)
        for id in 1...10 { inbox.deliver(job(Int64(id))) }
        var found: [Int64] = []
        for _ in 0..<4 {
            found += try await search.jobs(upTo: 1, at: manual.now) { _, _ in .jobs([job(100)]) }.map(\.id)
        }
        #expect(found.filter { $0 == 100 }.count == 2)
    }

    @Test("a job that becomes due is claimed even while other jobs are delivered all the time")
    func timers() async throws {
        var search = try await idleSearch(until: manual.now + 2)
        for id in 1...10 { inbox.deliver(job(Int64(id))) }
        manual.advance(by: .seconds(2))
        var found: [Int64] = []
        for _ in 0..<2 {
            found += try await search.jobs(upTo: 1, at: manual.now) { _, _ in .jobs([job(100)]) }.map(\.id)
        }
        #expect(found.contains(100))
    }

    @Test("delivered jobs run while the store fails to claim, and the claim is tried again")
    func busyStore() async throws {
        var search = JobSearch(inbox: inbox)
        for id in 1...2 { inbox.deliver(job(Int64(id))) }
        let found = try await search.jobs(upTo: 3, at: manual.now) { _, _ in throw Busy() }
        #expect(found.map(\.id) == [1, 2])
        await #expect(throws: Busy.self) {
            _ = try await search.jobs(upTo: 3, at: manual.now) { _, _ in throw Busy() }
        }
        #expect(try await search.jobs(upTo: 3, at: manual.now) { _, _ in .jobs([job(3)]) }.map(\.id) == [3])
    }

    @Test(
        "the pause before another attempt of a job doubles, plus up to a quarter that differs by job"
    )
    func pauses() {
        var policy = WorkPolicy()
        policy.backOff = .seconds(1)
        func pause(_ id: Int64, _ attempt: Int) -> Double {
            policy.pause(
                after: Job(id: id, transaction: job(1).transaction, attempt: attempt, generation: 1, work: .assemble()))
                / .seconds(1)
        }
        let ids: [Int64] = [1, 2, 3, 1000, 100_000, .max]
        for id in ids {
            #expect((1...1.25).contains(pause(id, 1)))
            #expect(pause(id, 3) == 4 * pause(id, 1))
        }
        #expect(Set(ids.map { pause($0, 1) }).count > 3)
    }
}
