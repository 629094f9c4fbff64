import ScribeDomain
import TestSupport
import Testing

@testable import ScribeStore

struct WorldMemoryTests {
    private let memory = WorldMemory(limit: 100)

    @Test("in-memory databases share one limit, and a database that shrinks makes room")
    func limit() throws {
        let (one, other) = (memory.share(), memory.share())
        try one.resize(to: 60)
        try other.resize(to: 40)
        #expect(throws: ScribeError.self) { try other.resize(to: 41) }
        #expect(memory.total == 100, "what was refused is not counted")
        try one.resize(to: 50)
        try other.resize(to: 50)
        #expect(throws: ScribeError.self) { try one.resize(to: 51) }
    }

    @Test("an in-memory database at its limit may stay or shrink")
    func shrinking() throws {
        let one = WorldMemory(limit: 10).share()
        try one.resize(to: 10)
        try one.resize(to: 10)
        try one.resize(to: 4)
        try one.resize(to: 9)
    }

    @Test("an in-memory database releases its memory at its end")
    func end() throws {
        do {
            let one = memory.share()
            try one.resize(to: 100)
        }
        #expect(memory.total == 0)
    }

    @Test("in-memory rows beyond the limit are refused and not kept")
    func stores() async throws {
        let memory = WorldMemory(limit: 1_000_000)
        let image = try StoreImage(memory: memory)
        let one = try image.store(transcribesOnArrival: false)
        let other = try image.store(transcribesOnArrival: false)
        func register(_ count: Int, in store: Store) async throws {
            let clients = (0..<count).map { number in
                let principal = Principal(
                    businessID: "b", userID: "u", doctorID: "o",
                    clientID: "\(number)\(String(repeating: "x", count: 200))")
                let client = Client(principal: principal, name: "n", workspace: "w", transactionLimit: nil)
                return (client, [UInt8](repeating: 1, count: 32), ClientOrigin.file)
            }
            try await store.accounts.register(clients)
        }
        try await register(10, in: one)
        try await register(10, in: other)
        await #expect(throws: ScribeError.self) { try await register(3000, in: other) }
        try await register(11, in: one)
        #expect(memory.total <= 1_000_000)
        try one.close()
        try other.close()
    }
}
