import Basics
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Logging
import ObjectStorage
import ScribeDomain
import ScribeHTTP
import ScribeRuntime
import ScribeStore
import ServerTestSupport
import TestSupport
import Testing

@testable import ScribeServer

struct TemporaryWorldTests {
    private let fixture: TemporaryWorldFixture
    private var server: TestServer { fixture.server }

    init() throws { fixture = try TemporaryWorldFixture() }

    /// Runs a test in each world at once, with a client that has logged in there.
    private func inParallel(
        _ worlds: [Int: RunningWorld], of emulator: Emulator,
        _ test: @escaping @Sendable (TestScribeClient, Int) async throws -> Void
    ) async throws {
        try await withThrowingDiscardingTaskGroup { group in
            for (number, temporary) in worlds {
                group.addTask {
                    try await fixture.run(temporary.world, of: emulator) {
                        try await test(try await $0.login(), number)
                    }
                }
            }
        }
    }

    @Test("a hundred worlds of one emulator share no data")
    func hundred() async throws {
        let (emulator, main) = try await fixture.opened()
        let now = server.manual.now
        let worlds = try await withThrowingTaskGroup(of: (Int, RunningWorld).self) { group in
            for number in 0..<100 { group.addTask { (number, try await emulator.temporaryWorld()) } }
            return try await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
        }
        // All have what they have before anybody looks.
        try await inParallel(worlds, of: emulator) { client, number in
            // The same ids in each, and one of its own.
            try await client.consultation("t", at: now)
            #expect(try await client.initialise("only-\(number)").status == 201)
        }
        try await inParallel(worlds, of: emulator) { client, number in
            #expect(try await client.status("t").status == 200)
            #expect(try await client.get("/voice/api/v2/transaction/only-\(number)").status == 200)
            for other in [number - 1, number + 1] {
                #expect(try await client.get("/voice/api/v2/transaction/only-\(other)").status == 404)
            }
            let history = try await client.get("/voice/api/v2/transaction/history")
            guard case .array(let items)? = history.json["data"] else {
                Issue.record("no history: \(history.text)")
                return
            }
            #expect(items.count == 2)
        }
        for world in worlds.values { await world.close() }
        try await fixture.run(main, of: emulator) { anonymous in
            let client = try await anonymous.login()
            #expect(try await client.get("/voice/api/v2/transaction/t").status == 404)
        }
        try main.runtime.store.close()
    }

    @Test("a token of one world is not valid in another world")
    func tokens() async throws {
        let (emulator, main) = try await fixture.opened()
        let temporary = try await emulator.temporaryWorld()
        let headers = LockedValue(HTTPFields())
        try await fixture.run(main, of: emulator) { anonymous in
            let client = try await anonymous.login()
            headers.withLock { $0 = client.headers }
            let own = try await client.get("/voice/api/v2/transaction/t")
            #expect(own.status == 404)
        }
        try await fixture.run(temporary.world, of: emulator) { anonymous in
            let stranger = TestScribeClient(door: anonymous.door, headers: headers.withLock { $0 })
            let answer = try await stranger.get("/voice/api/v2/transaction/t")
            #expect(answer.status == 401)
        }
        await temporary.close()
        try main.runtime.store.close()
    }

    @Test("a closed world refuses writes and leaves no files")
    func closing() async throws {
        let (emulator, main) = try await fixture.opened()
        let temporary = try await emulator.temporaryWorld()
        let folder = try #require(temporary.storage.objects as? ObjectFiles).folder
        let now = server.manual.now
        try await fixture.run(temporary.world, of: emulator) { anonymous in
            let client = try await anonymous.login()
            try await client.consultation("t", at: now)
            let files = try FileManager.default.subpathsOfDirectory(atPath: folder)
            #expect(!files.isEmpty)
            // Also by who is given up meanwhile, and twice.
            let closing = Task { await temporary.close() }
            closing.cancel()
            await closing.value
            await temporary.close()
            #expect(try await client.initialise("late").status == 503)
            #expect(try await client.get("/voice/api/v2/transaction/t").status == 503)
        }
        #expect(!FileManager.default.fileExists(atPath: folder))
        #expect(await !temporary.world.runtime.store.isReachable())
        try main.runtime.store.close()
    }

    @Test("closing a world closes its sockets, and its held polls find no transaction")
    func closingConnections() async throws {
        let manual = server.manual
        try await fixture.runOverSocket { anonymous, temporary in
            let client = try await anonymous.login()
            #expect(try await client.initialise("t").status == 201)
            let token = try #require(client.headers[.authorization])
            let port = try #require(client.port)
            try await TestSocket.open(
                "/v1/listen?encoding=linear16&sample_rate=16000", port: port, [("authorization", token)]
            ) {
                socket in
                try await socket.settle()
                async let poll = client.status("t", "?waitTime=10")
                try await manual.waitFor(.heldPoll)
                await temporary.close()
                let ended = try await poll
                #expect(ended.status == 400)
                #expect(try ended["error.code"] == "transaction_not_found")
                #expect(try await socket.end().code == 1012)
            }
        }
    }

    @Test("a write that is under way at the close of its world ends, and a later one is refused")
    func writeUnderWay() async throws {
        let (emulator, main) = try await fixture.opened()
        let temporary = try await emulator.temporaryWorld()
        let store = temporary.world.runtime.store
        let now = server.manual.now
        try await fixture.run(temporary.world, of: emulator) { anonymous in
            let client = try await anonymous.login()
            try await client.consultation("t", at: now)
        }
        let key = Transaction.Key(business: .init("b-demo"), id: .init("t"))
        let (begun, beginning) = AsyncStream.makeStream(of: Void.self)
        let mayEnd = DispatchSemaphore(value: 0)
        async let write = store.documents.updateContext(of: key) { _ in
            beginning.yield()
            mayEnd.wait()
            return .object(["kept": .bool(true)])
        }
        for await _ in begun { break }
        async let close: Void = temporary.close()
        // The close has begun, however far it has come.
        for _ in 0..<100 { await Task.yield() }
        mayEnd.signal()
        #expect(try await write == .object(["kept": .bool(true)]))
        await close
        await #expect(throws: ScribeError.self) {
            try await store.documents.updateContext(of: key) { context in context }
        }
        try main.runtime.store.close()
    }

    @Test("a poll that a world holds ends when the clock of that world is moved, and an idle world has no sleeper")
    func movedClock() async throws {
        let (emulator, main) = try await fixture.opened()
        let temporary = try await emulator.temporaryWorld()
        let runtime = temporary.world.runtime
        #expect(runtime.clock.sleepers.isEmpty)
        try await fixture.run(temporary.world, of: emulator) { anonymous in
            let client = try await anonymous.login()
            #expect(try await client.initialise("t").status == 201)
            async let poll = client.status("t", "?waitTime=10")
            try await fixture.server.manual.waitFor(.heldPoll)
            let later = runtime.clock.now.addingTimeInterval(3600)
            _ = try await ClockAdvance(runtime, atMost: .seconds(30)).run(to: .time(later))
            #expect(try await poll.status == 202)
        }
        #expect(!runtime.clock.sleepers.contains { $0.name == .heldPoll })
        await temporary.close()
        try main.runtime.store.close()
    }
}
