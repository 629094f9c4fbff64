import Basics
import Foundation
import ScribeRuntime
import Testing

struct IdentifierSourceTests {
    @Test("random identifiers are UUIDs of version 4, each one new")
    func random() throws {
        let ids = (0..<1000).map { _ in IdentifierSource.random.uuid() }
        #expect(Set(ids).count == ids.count)
        for id in ids {
            #expect(UUID(uuidString: id) != nil)
            #expect(
                try id.wholeMatch(of: Regex("[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"))
                    != nil)
        }
    }

    @Test("an ordered UUID is one of version 7, behind those of earlier milliseconds")
    func ordered() async throws {
        let before = Date()
        let ids = (0..<1000).map { _ in IdentifierSource.random.orderedUUID() }
        let after = Date()
        #expect(Set(ids).count == ids.count)
        let times = try ids.map { id in
            #expect(
                try id.wholeMatch(of: Regex("[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"))
                    != nil)
            return try #require(UInt64(id.prefix(8) + id.dropFirst(9).prefix(4), radix: 16))
        }
        #expect(times == times.sorted())
        #expect(Double(times[0]) / 1000 >= before.timeIntervalSince1970 - 0.001)
        #expect(Double(times[999]) / 1000 <= after.timeIntervalSince1970)
    }
}
