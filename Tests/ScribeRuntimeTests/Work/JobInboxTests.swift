import Basics
import FoundationEssentials
import ScribeDomain
import TestSupport
import Testing

@testable import ScribeRuntime
@testable import ScribeStore

struct JobInboxTests {
    let inbox = JobInbox()
    let manual = ManualClock()

    @Test("wake-ups before a wait for jobs end that wait at once, and only that one")
    func early() async throws {
        inbox.wakeup.wake()
        inbox.wakeup.wake()
        #expect(try await inbox.wait(until: nil, clock: manual.world))
        async let second = inbox.wait(until: manual.world.now.addingTimeInterval(1), clock: manual.world)
        try await manual.waitFor(.jobRunner)
        manual.advance(by: .seconds(1))
        #expect(try await second)
    }

    @Test("a wake-up ends a wait for jobs after an earlier wait has timed out")
    func afterTimeout() async throws {
        async let first = inbox.wait(until: manual.world.now.addingTimeInterval(1), clock: manual.world)
        try await manual.waitFor(.jobRunner)
        manual.advance(by: .seconds(1))
        #expect(try await first)
        async let second = inbox.wait(until: manual.world.now.addingTimeInterval(60), clock: manual.world)
        try await manual.waitFor(.jobRunner)
        inbox.wakeup.wake()
        #expect(try await second)
    }

    @Test("a job that was delivered and taken before a wait does not end that wait")
    func taken() async throws {
        let key = Transaction.Key(business: .init("b-1"), id: .init("t-1"))
        inbox.deliver(Job(id: 1, transaction: key, attempt: 1, generation: 1, work: .assemble()))
        #expect(inbox.deliveredJobs(upTo: 1).count == 1)
        async let wait = inbox.wait(until: manual.world.now.addingTimeInterval(60), clock: manual.world)
        try await manual.waitFor(.jobRunner)
        manual.advance(by: .seconds(60))
        #expect(try await wait)
    }

    @Test("delivered jobs of several tenants are taken in turn, those of each in order")
    func tenants() {
        for (number, tenant) in ["a", "a", "a", "b", "c", "b"].enumerated() {
            let key = Transaction.Key(business: .init(tenant), id: .init("t-\(number)"))
            inbox.deliver(
                Job(id: Int64(number), transaction: key, attempt: 1, generation: 1, work: .assemble()))
        }
        #expect(inbox.deliveredJobs(upTo: 2).map(\.id) == [0, 3])
        #expect(inbox.deliveredJobs(upTo: 10).map(\.id) == [4, 1, 5, 2])
        #expect(inbox.deliveredJobs(upTo: 1).isEmpty)
    }

    @Test("a delivered job ends the wait for jobs without a search of the store, unless a wake-up came too")
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
        inbox.wakeup.wake()
        #expect(try await inbox.wait(until: nil, clock: manual.world))
        #expect(inbox.deliveredJobs(upTo: 2) == [jobs[2]])
    }
}
