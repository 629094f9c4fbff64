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
}
