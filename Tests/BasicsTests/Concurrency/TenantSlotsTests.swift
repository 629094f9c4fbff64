import Testing

@testable import Basics

struct TenantSlotsTests {
    @Test("a tenant that uses all its slots takes none of another tenant's")
    func apart() async throws {
        let slots = TenantSlots(count: 1)
        let (gate, open) = AsyncStream.makeStream(of: Void.self)
        let (begun, begin) = AsyncStream.makeStream(of: Void.self)
        async let slow: Void = slots.run(for: "a") {
            begin.yield()
            for await _ in gate { break }
        }
        for await _ in begun { break }
        // Waits behind the slow one.
        async let next = slots.run(for: "a") { "a" }
        let other = try await slots.run(for: "b") { "b" }
        #expect(other == "b")
        open.yield()
        try await slow
        #expect(try await next == "a")
    }
}
