import Testing

@testable import Basics

struct SlotsTests {
    @Test("waiting tenants take turns for a slot, and each tenant's tasks run in order")
    func turns() async throws {
        let slots = Slots(count: 1)
        let order = LockedValue<[String]>([])
        let (gate, open) = AsyncStream.makeStream(of: Void.self)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await slots.run(for: "first") { for await _ in gate { break } } }
            while await slots.free > 0 { await Task.yield() }
            for (index, name) in ["a1", "a2", "a3", "b1", "c1", "b2"].enumerated() {
                group.addTask {
                    try await slots.run(for: String(name.prefix(1))) { order.withLock { $0.append(name) } }
                }
                // In this order.
                while await slots.waiting.count <= index { await Task.yield() }
            }
            open.yield()
            try await group.waitForAll()
        }
        #expect(order.withLock { $0 } == ["a1", "b1", "c1", "a2", "b2", "a3"])
    }

    @Test("a task that is cancelled while it waits takes no slot from another task")
    func cancellation() async throws {
        let slots = Slots(count: 1)
        let (gate, open) = AsyncStream.makeStream(of: Void.self)
        let first = Task { try await slots.run(for: "a") { for await _ in gate { break } } }
        while await slots.free > 0 { await Task.yield() }
        let cancelled = Task { try await slots.run(for: "a") {} }
        let last = Task { try await slots.run(for: "a") { true } }
        while await slots.waiting.count < 2 { await Task.yield() }
        cancelled.cancel()
        await #expect(throws: CancellationError.self) { try await cancelled.value }
        open.yield()
        try await first.value
        #expect(try await last.value)
        #expect(await slots.free == 1)
    }
}
