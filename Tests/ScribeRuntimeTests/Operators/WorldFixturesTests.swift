import Engines
import ScribeDomain
import Testing

@testable import ScribeRuntime

@Suite("Fixtures of a world")
struct WorldFixturesTests {
    @Test("a namespace's fixtures are limited in number and in the bytes of their texts")
    func limits() throws {
        let many = WorldFixtures(WorldMemory(limit: .max).share())
        for number in 0..<WorldFixtures.limit { try many.put(Fixture(text: "a"), named: "\(number)") }
        #expect(throws: ScribeError.self) { try many.put(Fixture(text: "a"), named: "more") }
        try many.put(Fixture(text: "b"), named: "0")
        let long = WorldFixtures(WorldMemory(limit: .max).share())
        let text = String(repeating: "x", count: WorldFixtures.sizeLimit / 2)
        try long.put(Fixture(text: text), named: "a")
        try long.put(Fixture(text: text), named: "b")
        #expect(throws: ScribeError.self) { try long.put(Fixture(text: "x"), named: "c") }
        #expect(long.remove("a"))
        try long.put(Fixture(text: "x"), named: "c")
        #expect(long.all.map(\.text?.count) == [text.count, 1])
    }

    @Test("fixtures take memory that all namespaces share, and give it back")
    func memory() throws {
        let memory = WorldMemory(limit: 10_000)
        do {
            let fixtures = WorldFixtures(memory.share())
            try fixtures.put(Fixture(text: String(repeating: "x", count: 6000)), named: "a")
            let other = WorldFixtures(memory.share())
            #expect(throws: ScribeError.self) {
                try other.put(Fixture(text: String(repeating: "x", count: 6000)), named: "a")
            }
            #expect(other.all.isEmpty)
            #expect(fixtures.remove("a"))
            #expect(memory.total == 0)
            try other.put(Fixture(text: String(repeating: "x", count: 6000)), named: "a")
        }
        #expect(memory.total == 0)
    }

    @Test("a fixture for the next transaction is used once, and a client's fixture for all its transactions")
    func assignment() throws {
        let fixtures = WorldFixtures(WorldMemory(limit: .max).share())
        var (next, ofClient, nextOfClient) = (Fixture(), Fixture(), Fixture())
        next.isForNext = true
        ofClient.client = "c"
        (nextOfClient.client, nextOfClient.isForNext) = ("c", true)
        try fixtures.put(next, named: "next")
        try fixtures.put(ofClient, named: "of client")
        try fixtures.put(nextOfClient, named: "next of client")
        #expect(fixtures.assigned(to: "other") == "next")
        #expect(fixtures.assigned(to: "other") == nil)
        #expect(fixtures.assigned(to: "c") == "next of client")
        #expect(fixtures.assigned(to: "c") == "of client")
        try fixtures.put(next, named: "next")
        #expect(fixtures.assigned(to: "c") == "next")
    }
}
