package import Basics
import Foundation
package import NIOCore

/// Small uploads of an object store in memory, until they are recognised: recognition then neither reads a file nor
/// fetches an object.
///
/// Bytes that find no room are read from the store. Bytes go with their object, after their recognition, and when they
/// are old and another upload needs the room.
package final class ReceivedBytes: Sendable {
    /// Memory that all stores of a process share.
    package final class Room: Sendable {
        /// Most bytes of all stores.
        static let capacity = 16 << 20

        fileprivate let clock: WallClock
        private let used = LockedValue(0)

        package init(clock: WallClock) { self.clock = clock }

        fileprivate func take(_ count: Int) -> Bool {
            used.withLock { used in
                guard count <= Self.capacity - used else { return false }
                used += count
                return true
            }
        }

        fileprivate func give(_ count: Int) { used.withLock { $0 -= count } }
    }

    private struct State {
        var received: [String: (bytes: ByteBuffer, at: Date)] = [:]
        /// No bytes are older.
        var oldest = Date.distantPast
    }

    /// Largest upload that is kept, in bytes.
    static let largest = 256 << 10
    /// Seconds after which bytes make room for newer ones.
    private static let lifetime = 600.0

    /// Bytes that count for an entry beside its own: an event loop looks through all entries, which must not be many.
    static let entrySize = 4096

    private let room: Room
    private let state = LockedValue(State())

    init(in room: Room) { self.room = room }

    deinit { room.give(state.withLock { $0.received.values.total { Self.size(of: $0.bytes) } }) }

    private static func size(of bytes: ByteBuffer) -> Int { entrySize + bytes.storageCapacity }

    /// Keeps the bytes of a new object.
    /// - Returns: false without room.
    func keep(_ name: String, _ bytes: ByteBuffer) -> Bool {
        let now = room.clock.now
        return state.withLock { state in
            if state.received.isEmpty { state.oldest = now }
            while !room.take(Self.size(of: bytes)) {
                guard state.oldest + Self.lifetime < now else { return false }
                for (name, received) in state.received where received.at + Self.lifetime < now { drop(name, &state) }
                state.oldest = state.received.values.map(\.at).min() ?? now
            }
            state.received[name] = (bytes, now)
            return true
        }
    }

    /// The bytes of an object; nil if they are not in memory.
    package func bytes(of name: String) -> ByteBuffer? { state.withLock { $0.received[name]?.bytes } }

    /// Forgets the bytes of objects that are recognised or gone.
    package func drop(_ names: [String]) { state.withLock { state in for name in names { drop(name, &state) } } }

    private func drop(_ name: String, _ state: inout State) {
        guard let received = state.received.removeValue(forKey: name) else { return }
        room.give(Self.size(of: received.bytes))
    }
}
