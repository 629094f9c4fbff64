import Foundation
import Hummingbird
import HummingbirdTesting
import Logging
import ScribeHTTP
import ScribeRuntime
import ScribeStore
import ServerTestSupport
import ServiceLifecycle
import TestSupport
import Testing

@testable import ScribeServer

/// One emulator with the world of a data folder, and throw-away worlds beside it.
struct TemporaryWorldFixture {
    let server: TestServer

    init() throws { server = try TestServer() }

    private var logger: Logger { Logger(label: "test") { _ in SwiftLogNoOpLogHandler() } }

    private var parts: Emulator.Parts {
        .init(clock: server.manual.clock, identifiers: .counting(), logger: logger)
    }

    /// The emulator of a server, with the world of its data folder.
    func opened() async throws -> (emulator: Emulator, main: World) {
        let (emulator, directory, _) = try await open(server.configuration, parts)
        return (emulator, directory.main)
    }

    /// Runs a test against one world of an emulator.
    func run(
        _ world: World, of emulator: Emulator, _ test: @escaping @Sendable (TestScribeClient) async throws -> Void
    ) async throws {
        let application = Application(
            responder: FamilyResponder(
                families: emulator.families, directory: WorldDirectory(main: world), memory: emulator.memory))
        try await application.test(.router) { try await test(TestScribeClient(door: .router($0))) }
    }

    /// Runs a test against a throw-away world of its own.
    func run(_ test: @escaping @Sendable (TestScribeClient, World) async throws -> Void) async throws {
        let (emulator, main) = try await opened()
        let temporary = try await emulator.temporaryWorld()
        try await run(temporary.world, of: emulator) { try await test($0, temporary.world) }
        await temporary.close()
        try main.runtime.store.close()
    }

    /// Runs a test against a throw-away world that is reached over a socket.
    func runOverSocket(
        _ test: @escaping @Sendable (TestScribeClient, RunningWorld) async throws -> Void
    ) async throws {
        let (emulator, main) = try await opened()
        let temporary = try await emulator.temporaryWorld()
        let (ports, ready) = AsyncStream.makeStream(of: Int.self)
        let application = try await Listener(server.configuration, parts).application(
            for: emulator, WorldDirectory(main: temporary.world), services: []
        ) { ready.yield($0.plain) }
        let group = ServiceGroup(
            configuration: .init(
                services: [application.named], logger: logger))
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask {
                defer { ready.finish() }
                try await group.run()
            }
            let port = try #require(await ports.first { _ in true })
            let result: Result<Void, any Error>
            do {
                result = .success(
                    try await TestClient.withClient(host: "127.0.0.1", port: port, configuration: .patient) {
                        try await test(TestScribeClient(door: .socket($0, port: port)), temporary)
                    })
            } catch {
                result = .failure(error)
            }
            await group.triggerGracefulShutdown()
            try await tasks.waitForAll()
            try result.get()
        }
        await temporary.close()
        try main.runtime.store.close()
    }
}
