import Basics
import Foundation
import NIOPosix
import ScribeHTTP
import ScribeRuntime
import ScribeStore
import ServiceLifecycle

/// The default world of a server, which a reset replaces. As a service it ends last, with the data folder.
final class MainWorld: Service, CustomStringConvertible {
    private struct State {
        var world: RunningWorld
        var isBusy = false
    }

    let emulator: Emulator
    let directory: WorldDirectory
    let ending = EndingWorlds()
    private let states: any MainStates
    private let state: LockedValue<State>
    private let folder: DataFolder
    /// Ends the server by an error.
    private let failure = AsyncThrowingStream<Void, any Error>.makeStream()

    let description = "MainWorld"

    /// The present world; nil during a reset.
    var running: RunningWorld? { state.withLock { $0.isBusy ? nil : $0.world } }

    /// Opens the present state, and registers the configured clients.
    /// - Parameter snapshot: what the state begins with; nil to keep what it has.
    /// - Throws: ``StartupProblem``, `Store.Problem`, or SQLite's error.
    init(
        _ emulator: Emulator, _ states: any MainStates, _ folder: DataFolder, from snapshot: SnapshotFolder?
    ) async throws {
        self.emulator = emulator
        self.states = states
        self.folder = folder
        var first = try await states.first()
        if let snapshot {
            try await first.fill(from: snapshot, owner: nil, of: emulator)
            _ = try? await NIOThreadPool.singleton.runIfActive {
                try FileManager.default.removeItem(atPath: snapshot.path)
            }
        }
        let running = try await Self.makeWorld(emulator, states, first, first.data.place)
        state = LockedValue(State(world: running))
        directory = WorldDirectory(main: running.world)
    }

    /// Makes the world of a state, with the clients of the file.
    private static func makeWorld(
        _ emulator: Emulator, _ states: any MainStates, _ open: OpenState, _ place: WorldPlace
    ) async throws -> RunningWorld {
        var data = open.data
        data.place = place
        let world = try await World.seeded(emulator, on: data, emulator.configuredClients.withLock { $0 })
        return RunningWorld(
            world, on: open,
            services: emulator.services(of: world, objects: data.objects) + states.services(of: world, data.objects),
            logger: emulator.parts.logger)
    }

    /// Gives the default world a fresh state.
    /// - Parameter snapshot: what the state begins with; nil to begin empty.
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
                ending.end(before, emulator.parts.clock)
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
        var open = try await states.next()
        do {
            let place = WorldPlace(state: before.world.place.state + 1)
            if let snapshot { try await open.fill(from: snapshot, owner: nil, of: emulator) }
            let next = try await Self.makeWorld(emulator, states, open, place)
            try await states.makeValid(open, number: place.state)
            return next
        } catch {
            await open.storage.close(keepingData: false)
            throw error
        }
    }

    /// Runs the services of the world until the server stops, or may write no more. Then closes the store and releases
    /// the data folder, whose lock keeps other servers away until the end.
    func run() async throws {
        state.withLock { $0.world }.start()
        states.prepare()
        let end: Result<Void, any Error>
        do {
            try await cancelWhenGracefulShutdown { [failure] in for try await _ in failure.stream {} }
            end = .success(())
        } catch {
            end = .failure(error)
        }
        async let ended: Void = ending.wait()
        await states.end()
        await state.withLock { $0.world }.stop()
        await ended
        folder.release()
        try end.get()
    }
}
