import Basics
import Foundation
import Logging
import NIOPosix
import ScribeDomain
import ScribeHTTP
import ScribeRuntime
import ScribeStore
import Suki

/// Namespaces of a server: temporary worlds, each reached by a name.
final class Namespaces: NamespaceControl {
    private struct Namespace: Sendable {
        let world: RunningWorld
        let client: NamespaceClient
        let keys: WorldStorage.Keys
        let seed: SeedValue?
        let snapshots: Snapshots
        let createdAt: Date
    }

    /// A name with its world. Without a world the name is being made, reset or removed.
    private struct Entry: Sendable {
        var namespace: Namespace?
        var isBusy = true
    }

    let limit: Int
    private let main: MainWorld
    private let mainSnapshots: Snapshots
    private let settings: NamespaceSettings
    private let entries = LockedValue<[NamespaceName: Entry]>([:])

    /// - Parameter snapshotFolder: holds the snapshots of the default world.
    init(_ main: MainWorld, snapshotFolder: String) {
        self.main = main
        mainSnapshots = Snapshots(in: snapshotFolder, main.emulator) {
            main.running.map { ($0, nil) }
        } restoring: {
            try await main.reset(to: $0)
        }
        settings = main.emulator.configuration.namespaces
        limit = settings.limit
    }

    private var emulator: Emulator { main.emulator }
    private var directory: WorldDirectory { main.directory }
    private var clock: WallClock { emulator.parts.clock }

    func create(
        _ name: NamespaceName?, seed: SeedValue?
    ) async throws -> (record: NamespaceRecord, credentials: NamespaceCredentials) {
        guard settings.isAllowed ?? (emulator.configuration.authMode != .strict) else { throw NamespaceProblem.off }
        let identifiers = emulator.parts.identifiers
        let name = name ?? NamespaceName("n-" + Hex.encode(identifiers.bytes(6)))
        guard let name else { throw NamespaceProblem.unknown }
        try entries.withLock { entries throws(NamespaceProblem) in
            guard entries[name] == nil else { throw .exists }
            guard entries.count < limit else { throw .tooMany(limit: limit) }
            entries[name] = Entry()
        }
        let client = NamespaceClient(name, identifiers)
        let seed = seed ?? emulator.configuration.seedValue
        do {
            let keys = WorldStorage.Keys(identifiers)
            let world = try await emulator.temporaryWorld(WorldPlace(namespace: name), for: client, keys, seed)
            let namespace = Namespace(
                world: world, client: client, keys: keys, seed: seed, snapshots: snapshots(of: name, client.owner),
                createdAt: clock.now)
            finish(name, with: namespace)
            return (record(name, namespace), client.credentials)
        } catch {
            finish(name, with: nil)
            throw error
        }
    }

    func list() -> [NamespaceRecord] {
        entries.withLock { $0.compactMap { name, entry in entry.namespace.map { (name, $0) } } }
            .map { record($0, $1) }.sorted { $0.name < $1.name }
    }

    func record(of name: NamespaceName) -> NamespaceRecord? {
        entries.withLock { $0[name]?.namespace }.map { record(name, $0) }
    }

    private func record(_ name: NamespaceName, _ namespace: Namespace) -> NamespaceRecord {
        let world = namespace.world.world
        return NamespaceRecord(
            name: name, createdAt: namespace.createdAt, lastUsedAt: world.use.last, state: world.place.state,
            client: namespace.client.client.principal.client, partner: namespace.client.partner.id,
            seed: namespace.seed)
    }

    func delete(_ name: NamespaceName) async throws {
        let namespace = try take(name)
        finish(name, with: nil)
        end(namespace)
    }

    func reset(_ name: NamespaceName?) async throws -> Int { try await reset(name, to: nil) }

    /// - Parameter snapshot: first rows and audio of the new state; nil to begin empty.
    private func reset(_ name: NamespaceName?, to snapshot: SnapshotFolder?) async throws -> Int {
        guard let name else { return try await main.reset(to: snapshot) }
        let namespace = try take(name)
        let before = namespace.world.world
        do {
            let place = WorldPlace(namespace: name, state: before.place.state + 1)
            let world = try await emulator.temporaryWorld(
                place, for: namespace.client, namespace.keys, namespace.seed, from: snapshot)
            finish(
                name,
                with: Namespace(
                    world: world, client: namespace.client, keys: namespace.keys, seed: namespace.seed,
                    snapshots: namespace.snapshots, createdAt: namespace.createdAt))
            main.end(namespace.world)
            return place.state
        } catch {
            finish(name, with: namespace)
            throw error
        }
    }

    func snapshots(of name: NamespaceName?) throws -> any SnapshotControl {
        guard let name else { return mainSnapshots }
        guard let namespace = entries.withLock({ $0[name]?.namespace }) else { throw NamespaceProblem.unknown }
        return namespace.snapshots
    }

    /// Makes the snapshots of a new namespace.
    private func snapshots(of name: NamespaceName, _ owner: SnapshotOwner) -> Snapshots {
        Snapshots(in: emulator.temporary.newSnapshotFolder(emulator.parts.identifiers), emulator) { [weak self] in
            guard let entry = self?.entries.withLock({ $0[name] }), !entry.isBusy, let namespace = entry.namespace
            else { return nil }
            return (namespace.world, owner)
        } restoring: { [weak self] in
            guard let self else { throw NamespaceProblem.unknown }
            return try await reset(name, to: $0)
        }
    }

    /// Reserves a namespace for one change.
    private func take(_ name: NamespaceName) throws(NamespaceProblem) -> Namespace {
        try entries.withLock { entries throws(NamespaceProblem) in
            guard let entry = entries[name] else { throw .unknown }
            guard !entry.isBusy, let namespace = entry.namespace else { throw .busy }
            entries[name]?.isBusy = true
            return namespace
        }
    }

    /// Ends a change: from now on the name leads to this namespace; nil removes the name.
    private func finish(_ name: NamespaceName, with namespace: Namespace?) {
        entries.withLock { entries in
            entries[name] = namespace.map { Entry(namespace: $0, isBusy: false) }
            directory.publish(namespace?.world.world, as: name, key: namespace?.client.hexKey)
        }
    }

    /// Closes a namespace that no request finds any more, and removes its snapshots.
    private func end(_ namespace: Namespace) {
        main.end(namespace.world)
        // Detached, because the removal outlives the request.
        Task.detached { try? await NIOThreadPool.singleton.runIfActive { namespace.snapshots.removeAll() } }
    }

    /// Removes the namespaces that no request and no socket has used since a time.
    func remove(unusedSince oldest: Date) {
        let idle = list().filter { $0.lastUsedAt <= oldest }
        for record in idle {
            guard let namespace = try? take(record.name) else { continue }
            // A request may have begun meanwhile.
            guard namespace.world.world.use.last <= oldest else {
                finish(record.name, with: namespace)
                continue
            }
            finish(record.name, with: nil)
            end(namespace)
        }
        guard !idle.isEmpty else { return }
        emulator.parts.logger.info(
            "idle namespaces were removed", metadata: ["count": .stringConvertible(idle.count)])
    }

    /// Removes unfinished snapshots of the default world, which a kill has left.
    func removeLeftovers() async {
        _ = try? await NIOThreadPool.singleton.runIfActive { [mainSnapshots] in mainSnapshots.removeLeftovers() }
    }

    /// Closes all namespaces, when the server stops.
    func closeAll() async {
        let all = entries.withLock { entries in
            defer { entries = [:] }
            return entries.values.compactMap(\.namespace)
        }
        await withDiscardingTaskGroup { group in
            for namespace in all { group.addTask { await namespace.world.close() } }
        }
    }
}
