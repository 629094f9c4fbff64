import Basics
import Foundation
import ScribeDomain
import TestSupport
import Testing

@Suite("Identifiers of a world")
struct WorldIdentifiersTests {
    private func seeded(_ text: String) throws -> WorldIdentifiers {
        let seed: SeedValue = try #require(SeedValue(text))
        return WorldIdentifiers(.counting(), seed: seed)
    }

    @Test("a seed value gives the same identifiers each time, and others for another kind or value")
    func repeatable() throws {
        let (one, two, other) = (try seeded("42"), try seeded("42"), try seeded("43"))
        let first = (0..<1000).map { _ in one.uuid(.document) }
        #expect(first == (0..<1000).map { _ in two.uuid(.document) })
        let users = (0..<1000).map { _ in one.uuid(.user) }
        let others = (0..<1000).map { _ in other.uuid(.document) }
        #expect(Set(first + users + others).count == 3000)
        #expect(
            first.allSatisfy { UUID(uuidString: $0) != nil && $0 == $0.lowercased() && $0.dropFirst(14).first == "4" })
        #expect(one.bytes(10, .recording) == two.bytes(10, .recording))
        #expect(one.bytes(10, .recording) != one.bytes(10, .recording))
    }

    @Test("each kind of seeded identifiers has its own counter")
    func counters() throws {
        let (one, two) = (try seeded("42"), try seeded("42"))
        for kind in IdentifierKind.allCases { _ = one.uuid(kind) }
        _ = one.uuid(.document)
        _ = (two.uuid(.document), two.uuid(.document))
        #expect(one.uuid(.document) == two.uuid(.document))
    }

    @Test("counters of seeded identifiers survive a snapshot, and without a seed identifiers are random")
    func counts() throws {
        let one = try seeded("a")
        _ = (one.uuid(.session), one.uuid(.session), one.bytes(4, .recording))
        let kept = try JSONDecoder().decode(IdentifierCounts.self, from: JSONEncoder().encode(one.counts))
        #expect(try seeded("a").continuing(after: kept).uuid(.session) == one.uuid(.session))
        let random = WorldIdentifiers(.counting())
        let source = IdentifierSource.counting()
        #expect([random.uuid(.user), random.uuid(.session)] == [source.uuid(), source.uuid()])
        #expect(random.counts.isEmpty)
    }

    @Test(
        "invalid identifier counters in a snapshot are refused",
        arguments: ["-1", "9007199254740993", "\"1\"", "null", "[]"])
    func foreign(number: String) {
        #expect(throws: (any Error).self) {
            try JSONDecoder().decode(IdentifierCounts.self, from: Data(#"{"session":\#(number)}"#.utf8))
        }
    }

    @Test(
        "a seed value is 1 to 64 characters", arguments: ["", " ", "a b", "ä", String(repeating: "x", count: 65), "\n"])
    func refused(text: String) {
        #expect(SeedValue(text) == nil)
    }
}
