import Basics
package import ScribeDomain

/// Worlds of a server: the default world, and the world of each namespace.
package final class WorldDirectory: Sendable {
    private struct State {
        var main: World
        var named: [NamespaceName: World] = [:]
        /// Namespace of each API key without a mark, by the key's hash.
        var keys: [[UInt8]: NamespaceName] = [:]
        /// True from the first namespace on.
        var hasHadAny = false
        var changes = 0
    }

    private let state: LockedValue<State>
    private let making = LockedValue<(any NamespaceControl)?>(nil)

    /// Starts with the default world only.
    package init(main: World) { state = LockedValue(State(main: main)) }

    /// World of requests that choose no namespace.
    package var main: World { state.withLock { $0.main } }

    /// Serves a world as the default one, in place of the one before.
    package func publish(main world: World) { state.withLock { $0.main = world } }

    /// All worlds, the default one first.
    package var worlds: [World] { state.withLock { [$0.main] + $0.named.values } }

    /// The world of a namespace; nil for an unknown namespace.
    package subscript(name: NamespaceName) -> World? { state.withLock { $0.named[name] } }

    /// Serves a world under a name, in place of the world that had the name before; nil ends the name.
    /// - Parameter key: An API key of the namespace that does not contain its name; nil ends the key.
    package func publish(_ world: World?, as name: NamespaceName, key: String? = nil) {
        let hash = key.map(KnownClients.hash(of:))
        state.withLock { state in
            state.named[name] = world
            state.keys = state.keys.filter { $0.value != name }
            if let hash { state.keys[hash] = name }
            state.hasHadAny = true
            state.changes += 1
        }
    }

    /// The namespace of an API key that does not contain its name; nil for any other text.
    func namespace(ofKey key: String) -> NamespaceName? {
        let hash = KnownClients.hash(of: key)
        return state.withLock { $0.keys[hash] }
    }

    /// Number of changes of the namespaces.
    package var changes: Int { state.withLock { $0.changes } }

    /// True from the first namespace on. Until then tokens are not searched for a namespace.
    var hasHadAny: Bool { state.withLock { $0.hasHadAny } }

    /// Makes, resets and removes namespaces; nil on a server that has none.
    package var control: (any NamespaceControl)? {
        get { making.withLock { $0 } }
        set { making.withLock { $0 = newValue } }
    }
}
