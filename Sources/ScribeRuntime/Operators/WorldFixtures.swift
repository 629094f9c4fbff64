import Basics
package import Engines
package import ScribeDomain

/// Fixtures that operators have put into a world.
package final class WorldFixtures: Sendable {
    /// Most fixtures of a world.
    package static let limit = 1000
    /// Most bytes of the texts of all fixtures together.
    package static let sizeLimit = 16 << 20
    /// About the bytes of a fixture beside its texts.
    private static let overhead = 500

    private struct State {
        var fixtures: [String: Fixture] = [:]
        /// Names of fixtures for the next transaction that one has used up.
        var used: Set<String> = []
    }

    private let memory: WorldMemory.Share
    private let state = LockedValue(State())

    init(_ memory: WorldMemory.Share) { self.memory = memory }

    package subscript(name: String) -> Fixture? { state.withLock { $0.fixtures[name] } }

    /// All fixtures by name.
    package var all: [Fixture] {
        state.withLock { $0.fixtures.sorted { $0.key < $1.key }.map(\.value) }
    }

    var isEmpty: Bool { state.withLock { $0.fixtures.isEmpty } }

    var names: Set<String> { state.withLock { Set($0.fixtures.keys) } }

    func names(refusing step: Fixture.Step) -> Set<String> {
        state.withLock { Set($0.fixtures.filter { $0.value.refuses?.contains(step) == true }.keys) }
    }

    /// Fixtures with the SHA-256 of the audio that selects them.
    var hashed: [Fixture] { state.withLock { $0.fixtures.values.filter { $0.sha256 != nil } } }

    /// Puts a fixture in the place of an earlier one of its name.
    /// - Throws: ``ScribeError/invalidState(_:)`` beyond the limits, ``ScribeError/storageUnavailable(cause:)``.
    package func put(_ fixture: Fixture, named name: String) throws(ScribeError) {
        try state.withLock { state throws(ScribeError) in
            guard state.fixtures[name] != nil || state.fixtures.count < Self.limit else {
                throw .invalidState("There are \(Self.limit) fixtures already; remove some first")
            }
            let others = state.fixtures.filter { $0.key != name }.values.total(\.size)
            guard others + fixture.size <= Self.sizeLimit else {
                throw .invalidState("The fixtures have \(Self.sizeLimit) bytes of text already; remove some first")
            }
            try memory.resize(to: others + fixture.size + Self.overhead * (state.fixtures.count + 1))
            state.fixtures[name] = fixture
            state.used.remove(name)
        }
    }

    /// - Returns: whether there was such a fixture.
    package func remove(_ name: String) -> Bool {
        state.withLock { state in
            guard state.fixtures.removeValue(forKey: name) != nil else { return false }
            let size = state.fixtures.values.total(\.size)
            // A smaller size always fits.
            try? memory.resize(to: size + Self.overhead * state.fixtures.count)
            return true
        }
    }

    package func removeAll() {
        state.withLock { $0 = State() }
        try? memory.resize(to: 0)
    }

    /// The fixture of a client's new transaction: one for the next transaction, which it uses up, else the client's.
    func assigned(to client: String) -> String? {
        state.withLock { state in
            guard !state.fixtures.isEmpty else { return nil }
            let own = state.fixtures.filter { $0.value.client.map { $0 == client } ?? $0.value.isForNext }
            let next = own.filter { $0.value.isForNext && !state.used.contains($0.key) }.keys.min()
            if let next { state.used.insert(next) }
            return next ?? own.filter { !$0.value.isForNext }.keys.min()
        }
    }
}

extension Fixture {
    /// Bytes of all texts.
    fileprivate var size: Int {
        let texts = [text, note].compactMap(\.self) + (passages ?? []) + (spoken ?? []).flatMap { $0.map(\.text) }
        return texts.total { $0.utf8.count }
    }
}
