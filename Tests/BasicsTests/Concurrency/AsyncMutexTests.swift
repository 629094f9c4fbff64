import Basics
import Testing

@Suite struct AsyncMutexTests {
    private actor Log {
        private let mutex = AsyncMutex()
        private(set) var lines: [String] = []

        func run(_ name: Int, waiting: @Sendable () async -> Void = {}) async {
            await mutex.withLock {
                lines.append("\(name) begins")
                await waiting()
                await Task.yield()
                lines.append("\(name) ends")
            }
        }

        func fail() async throws { try await mutex.withLock { throw CancellationError() } }
    }

    private func turns(_ count: Int) -> [String] { (0..<count).flatMap { ["\($0) begins", "\($0) ends"] } }

    @Test("callers of an actor run one at a time, however long each one waits")
    func exclusion() async {
        let log = Log()
        await withTaskGroup { group in
            let (started, start) = AsyncStream.makeStream(of: Void.self)
            let (released, release) = AsyncStream.makeStream(of: Void.self)
            group.addTask {
                await log.run(0) {
                    start.finish()
                    for await _ in released {}
                }
            }
            for await _ in started {}
            for name in 1..<20 { group.addTask { @Sendable in await log.run(name) } }
            for _ in 0..<100 { await Task.yield() }
            release.finish()
        }
        let lines = await log.lines
        #expect(lines.count == 40)
        #expect(
            stride(from: 0, to: 40, by: 2).allSatisfy {
                lines[$0].split(separator: " ")[0] == lines[$0 + 1].split(separator: " ")[0]
            })
    }

    @Test("an error of a caller, and its cancellation, leave the lock free")
    func failure() async {
        let log = Log()
        await #expect(throws: CancellationError.self) { try await log.fail() }
        let cancelled = Task { await log.run(0) }
        cancelled.cancel()
        await cancelled.value
        await log.run(1)
        #expect(await log.lines == turns(2))
    }
}
