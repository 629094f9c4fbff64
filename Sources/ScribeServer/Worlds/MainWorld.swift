import Basics
import DataFolder
import Foundation
import NIOPosix
import ScribeHTTP
import ScribeRuntime
import ScribeStore
import ServiceLifecycle

/// The default world of a server, which a reset replaces. As a service it ends last, with the data folder.
final class MainWorld: Service {
    private struct State {
        var world: RunningWorld
        var isBusy = false
    }

    let emulator: Emulator
    let directory: WorldDirectory
    private let states: MainStorage
    private let state: LockedValue<State>
    /// Worlds that are being closed. No request reaches them any more.
    private let ending = LockedValue<(tasks: [Int: Task<Void, Never>], count: Int)>(([:], 0))
    /// Time that requests of a closed world have to end.
    private static let endTime: Duration = .seconds(2)
    private let folder: DataFolder
    /// Ends the server by an error.
    private let failure = AsyncThrowingStream<Void, any Error>.makeStream()

    /// The present world; nil during a reset.
    var running: RunningWorld? { state.withLock { $0.isBusy ? nil : $0.world } }

    /// Opens the present state, and registers the configured clients.
    /// - Parameter snapshot: rows and audio that replace those of the state; nil to keep them.
    /// - Throws: ``StartupProblem``, `Store.Problem`, or SQLite's error.
    init(
        _ emulator: Emulator, _ states: MainStorage, _ folder: DataFolder, from snapshot: SnapshotFolder?
    ) async throws {
        self.emulator = emulator
        self.states = states
        self.folder = folder
        var first = try await states.first(emulator)
        if let snapshot {
            try await first.fill(from: snapshot, owner: nil, of: emulator)
            _ = try? await NIOThreadPool.singleton.runIfActive {
                try FileManager.default.removeItem(atPath: snapshot.path)
            }
        }
        let running = try await Self.makeWorld(emulator, first)
        state = LockedValue(State(world: running))
        directory = WorldDirectory(main: running.world)
    }

    /// Makes the world of a state, with the clients of the file.
    private static func makeWorld(
        _ emulator: Emulator, _ storage: WorldStorage
    ) async throws -> RunningWorld {
        let world = try await World.seeded(emulator, on: storage, emulator.configuredClients.withLock { $0 })
        return RunningWorld(
            world, on: storage,
            services: emulator.services(of: world, objects: storage.objects)
                + emulator.mainServices(of: world, objects: storage.objects),
            logger: emulator.parts.logger)
    }

    /// Gives the default world a fresh state.
    /// - Parameter snapshot: first rows and audio of the state; nil to begin empty.
    /// - Returns: The number of the new state.
    /// - Throws: ``NamespaceProblem``, the error of SQLite or of the file system. The world is then as before, unless
    ///   it is `DataFolder.Problem.halfReplaced`: then the world is closed, and the server ends.
    func reset(to snapshot: SnapshotFolder? = nil) async throws -> Int {
        let before = try state.withLock { state throws(NamespaceProblem) in
            guard !state.isBusy else { throw .busy }
            state.isBusy = true
            return state.world
        }
        // Detached, because a client that hangs up must not stop a reset half-way.
        return try await Task.detached { [self] in
            do {
                let next = try await replacement(of: before, from: snapshot)
                state.withLock { $0 = State(world: next) }
                directory.publish(main: next.world)
                next.start()
                end(before)
                states.prepare()
                return next.world.place.state
            } catch DataFolder.Problem.halfReplaced(let path) {
                // No write that is acknowledged now may be lost at the next start.
                await before.storage.close(keepingData: true)
                failure.continuation.finish(throwing: DataFolder.Problem.halfReplaced(path: path))
                throw DataFolder.Problem.halfReplaced(path: path)
            } catch {
                state.withLock { $0.isBusy = false }
                throw error
            }
        }.value
    }

    /// Makes a fresh state the valid one.
    private func replacement(of before: RunningWorld, from snapshot: SnapshotFolder?) async throws -> RunningWorld {
        var storage = try await states.next(emulator)
        do {
            storage.place = WorldPlace(state: before.world.place.state + 1)
            if let snapshot { try await storage.fill(from: snapshot, owner: nil, of: emulator) }
            let next = try await Self.makeWorld(emulator, storage)
            try await states.makeValid(storage, number: storage.place.state)
            return next
        } catch {
            await storage.close(keepingData: false)
            throw error
        }
    }

    /// Closes a world that no request finds any more, in the background. Its requests may end first.
    func end(_ world: RunningWorld) {
        ending.withLock { ending in
            ending.count += 1
            let number = ending.count
            // Detached, because a task of a request ends with the HTTP server.
            ending.tasks[number] = Task.detached { [self] in
                await world.close(within: Self.endTime, emulator.parts.clock)
                self.ending.withLock { $0.tasks[number] = nil }
            }
        }
    }

    /// Runs the services of the world until the server stops, or may write no more. Then closes the store and releases
    /// the data folder, whose lock keeps other servers away until the end.
    func run() async throws {
        state.withLock { $0.world }.start()
        states.prepare()
        let end = await outcome {
            try await cancelWhenGracefulShutdown { [failure] in for try await _ in failure.stream {} }
        }
        let closing = ending.withLock { Array($0.tasks.values) }
        await states.end()
        await state.withLock { $0.world }.stop()
        for task in closing { await task.value }
        folder.release()
        try end.get()
    }
}
