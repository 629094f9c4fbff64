import Basics
import TestSupport
import Testing

@testable import Engines

struct DecoderPlacesTests {
    private let manual = ManualClock()

    private func places(_ count: Int = 32) -> DecoderSlots {
        DecoderSlots(count: count, idleTime: .seconds(10), clock: manual.clock)
    }

    @Test("a business may hold more than eight decoder slots only while eight stay free for others")
    func share() throws {
        let places = places()
        var held = try (0..<24).map { _ in try places.take("busy") {} }
        #expect(throws: EngineFailure.self) { _ = try places.take("busy") {} }
        held += try (0..<8).map { _ in try places.take("other") {} }
        for tenant in ["busy", "other", "third"] {
            #expect(throws: EngineFailure.self) { _ = try places.take(tenant) {} }
        }
        held.removeFirst()
        #expect(throws: EngineFailure.self, "one is free, and it is not for who has most") {
            _ = try places.take("busy") {}
        }
        held.append(try places.take("third") {})
    }

    @Test("a small number of decoder slots is shared in the same proportion", arguments: [1, 2, 4, 8])
    func few(count: Int) throws {
        let places = places(count)
        let share = max(1, count / 4)
        let held = try (0..<max(share, count - share)).map { _ in try places.take("busy") {} }
        #expect(throws: EngineFailure.self) { _ = try places.take("busy") {} }
        if count > 1 { _ = try places.take("other") {} }
        withExtendedLifetime(held) {}
    }

    @Test("without a free decoder slot the longest idle stream loses its slot, and no other stream")
    func idle() async throws {
        let places = places(4)
        let ended = LockedValue<[String]>([])
        func take(_ tenant: String, _ name: String) throws -> DecoderSlot {
            try places.take(tenant) { ended.withLock { $0.append(name) } }
        }
        var held = [try take("a", "a1")]
        manual.advance(by: .seconds(1))
        held += [try take("a", "a2"), try take("a", "a3"), try take("b", "b1")]
        manual.advance(by: .seconds(8))
        await held[1].feeding {}
        #expect(throws: EngineFailure.self, "nobody has been idle for so long") { _ = try take("c", "c1") }
        manual.advance(by: .seconds(1))
        held.append(try take("c", "c1"))
        #expect(ended.withLock { $0 } == ["a1"])
        manual.advance(by: .seconds(1))
        held.append(try take("d", "d1"))
        #expect(ended.withLock { $0 } == ["a1", "a3"], "a2 was fed, and b1 began after it")
        let fed = held[1]
        await fed.feeding {
            manual.advance(by: .seconds(60))
            let more = try? ["e1", "e2", "e3", "e4"].map { try take("e" + $0, $0) }
            #expect(more == nil, "who is being fed is not idle, however long that takes")
            withExtendedLifetime(more) {}
        }
        #expect(!ended.withLock { $0 }.contains("a2"))
    }

    @Test("an evicted stream that ends does not release another stream's decoder slot")
    func evicted() throws {
        let places = places(1)
        var first: DecoderSlot? = try places.take("a") {}
        manual.advance(by: .seconds(10))
        let second = try places.take("b") {}
        withExtendedLifetime(first) {}
        first = nil
        #expect(throws: EngineFailure.self) { _ = try places.take("c") {} }
        withExtendedLifetime(second) {}
    }
}
