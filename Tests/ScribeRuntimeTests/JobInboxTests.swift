import FoundationEssentials
import ScribeDomain
import TestSupport
import Testing

@testable import ScribeRuntime
@testable import ScribeStore

struct JobBellTests {
    let inbox = JobInbox()
    let manual = ManualClock()

    @Test("a wake-up before the wait ends it at once, and only one")
    func early() async throws {
        inbox.wake()
        inbox.wake()
        #expect(try await inbox.wait(until: nil, clock: manual.world))
        async let second = inbox.wait(until: manual.world.now.addingTimeInterval(1), clock: manual.world)
        try await manual.waitFor(.jobRunner)
        manual.advance(by: .seconds(1))
        #expect(try await second)
    }

    @Test("the bell still works after a wait that ran out of time")
    func afterTimeout() async throws {
        async let first = inbox.wait(until: manual.world.now.addingTimeInterval(1), clock: manual.world)
        try await manual.waitFor(.jobRunner)
        manual.advance(by: .seconds(1))
        #expect(try await first)
        async let second = inbox.wait(until: manual.world.now.addingTimeInterval(60), clock: manual.world)
        try await manual.waitFor(.jobRunner)
        inbox.wake()
        #expect(try await second)
    }

    @Test("a job that is handed over ends the wait without a look into the store, unless the bell rang as well")
    func handed() async throws {
        let jobs = (1...3).map { number in
            let key = Transaction.Key(business: .init("b-1"), id: .init("t-\(number)"))
            return Job(id: Int64(number), transaction: key, attempt: 1, generation: 1, work: .assemble())
        }
        async let wait = inbox.wait(until: manual.world.now.addingTimeInterval(60), clock: manual.world)
        try await manual.waitFor(.jobRunner)
        for job in jobs { inbox.deliver(job) }
        #expect(try await !wait)
        #expect(try await !inbox.wait(until: nil, clock: manual.world), "it is still there")
        #expect(inbox.deliveredJobs(upTo: 2) == Array(jobs.prefix(2)))
        inbox.wake()
        #expect(try await inbox.wait(until: nil, clock: manual.world))
        #expect(inbox.deliveredJobs(upTo: 2) == [jobs[2]])
    }
}
