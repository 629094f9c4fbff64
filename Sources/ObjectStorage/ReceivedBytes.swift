import Basics
package import NIOCore

/// Small uploads of an object store in memory, until they are recognised: recognition then neither reads a file nor
/// fetches an object.
///
/// Bytes go with their object, after their recognition, and when newer uploads need the room. They are then read from
/// the store.
package final class ReceivedBytes: Sendable {
    /// Memory that all stores of a process share. The newest uploads have it.
    package final class Room: Sendable {
        fileprivate struct Key: Hashable {
            let store: ObjectIdentifier
            let name: String
        }

        fileprivate struct State {
            var received: [Key: ByteBuffer] = [:]
            /// Keys in the order of their arrival, some of them of bytes that are gone.
            var arrived: ArraySlice<Key> = []
            var size = 0
            /// Bytes of uploads that are being sent from memory.
            var sending = 0

            mutating func remove(_ key: Key) {
                if let bytes = received.removeValue(forKey: key) { size -= ReceivedBytes.size(of: bytes) }
            }
        }

        /// Most bytes of all stores.
        static let capacity = 16 << 20

        fileprivate let state = LockedValue(State())

        package init() {}

        fileprivate func keep(_ key: Key, _ bytes: ByteBuffer) {
            state.withLock { state in
                state.remove(key)
                state.size += ReceivedBytes.size(of: bytes)
                while state.size > Self.capacity, let oldest = state.arrived.popFirst() { state.remove(oldest) }
                if state.arrived.count > 2 * state.received.count + 64 {
                    state.arrived = state.arrived.filter { state.received[$0] != nil }[...]
                }
                state.received[key] = bytes
                state.arrived.append(key)
            }
        }

        fileprivate func removeAll(of store: ObjectIdentifier) {
            state.withLock { state in
                for key in state.received.keys where key.store == store { state.remove(key) }
            }
        }
    }

    /// Largest upload that is kept, in bytes.
    static let largest = 256 << 10
    /// Bytes that count for an entry beside its own.
    static let entrySize = 512

    private let room: Room

    init(in room: Room) { self.room = room }

    deinit { room.removeAll(of: ObjectIdentifier(self)) }

    fileprivate static func size(of bytes: ByteBuffer) -> Int { entrySize + bytes.storageCapacity }

    private func key(_ name: String) -> Room.Key { Room.Key(store: ObjectIdentifier(self), name: name) }

    /// Keeps the bytes of a new object, at most ``largest``.
    func keep(_ name: String, _ bytes: ByteBuffer) { room.keep(key(name), bytes) }

    /// Counts bytes that are sent from memory, which keeps them whether or not they have room here.
    /// - Returns: false where as much is being sent already.
    func beginSending(_ count: Int) -> Bool {
        room.state.withLock { state in
            guard count <= Room.capacity - state.sending else { return false }
            state.sending += count
            return true
        }
    }

    func endSending(_ count: Int) { room.state.withLock { $0.sending -= count } }

    /// The bytes of an object; nil if they are not in memory.
    package func bytes(of name: String) -> ByteBuffer? { room.state.withLock { $0.received[key(name)] } }

    /// Forgets the bytes of objects that are recognised or gone.
    package func drop(_ names: [String]) {
        room.state.withLock { state in for name in names { state.remove(key(name)) } }
    }
}
