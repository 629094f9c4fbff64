import Basics
import Foundation
import NIOCore

/// Copies of a bucket's objects in the spool, so that what this server has sent or fetched is not fetched again.
///
/// A copy goes with its object, for newer ones, and after some minutes.
final class LocalCopies: Sendable {
    private struct Copy {
        /// Name in the spool.
        let file: String
        let size: Int
        let keptAt: Date
        /// Number of those who read the file by its path.
        var users = 0
        /// Whether the last of them removes the file.
        var isDropped = false
    }

    private struct State {
        var copies: [String: Copy] = [:]
        /// Names of copies from the oldest, and of some that are gone.
        var order = CircularBuffer<String>()
        /// Bytes of all copies that are not dropped.
        var size = 0
    }

    /// Largest object that is kept, and most bytes of all copies.
    static let largest = 16 << 20
    private static let capacity = 256 << 20
    /// Seconds for which a copy is kept.
    private static let lifetime = 600.0

    private let spool: ObjectFiles
    private let state = LockedValue(State())

    init(in spool: ObjectFiles) { self.spool = spool }

    /// Keeps a file of the spool as the copy of an object, and drops the oldest copies. A file that is too large, or a
    /// second copy, is removed.
    func keep(_ name: String, in file: String, size: Int, at now: Date) async {
        let isKept = state.withLock { state in
            guard size <= Self.largest, state.copies[name] == nil else { return false }
            state.copies[name] = Copy(file: file, size: size, keptAt: now)
            state.order.append(name)
            state.size += size
            return true
        }
        if !isKept { await spool.remove([file]) }
        await dropOldest(at: now)
    }

    /// Drops the copies that are too old, and those for which there is no room.
    func dropOldest(at now: Date) async {
        let outdated = state.withLock { state in
            var files: [String] = []
            while let name = state.order.first {
                if let copy = state.copies[name] {
                    guard state.size > Self.capacity || copy.keptAt + Self.lifetime < now else { break }
                    files += Self.drop(name, &state)
                }
                state.order.removeFirst()
            }
            return files
        }
        await spool.remove(outdated)
    }

    /// Drops the copies of objects that are gone.
    func drop(_ names: [String]) async {
        await spool.remove(state.withLock { state in names.flatMap { Self.drop($0, &state) } })
    }

    /// Opens a copy for reading; nil without one.
    func open(_ name: String) async throws -> (any ObjectReader)? {
        guard let file = state.withLock({ $0.copies[name].flatMap { $0.isDropped ? nil : $0.file } }) else {
            return nil
        }
        return try await spool.open(file)
    }

    /// Lends the path of a copy, whose file stays until `body` ends.
    /// - Returns: nil without a copy.
    func lend<Value: Sendable>(_ name: String, _ body: (String) async throws -> Value) async throws -> Value? {
        let lent = state.withLock { state -> String? in
            guard let copy = state.copies[name], !copy.isDropped else { return nil }
            state.copies[name]?.users += 1
            return copy.file
        }
        guard let lent else { return nil }
        let result = await outcome { try await body(spool.path(of: lent)) }
        let isLast = state.withLock { state in
            state.copies[name]?.users -= 1
            guard let copy = state.copies[name], copy.isDropped, copy.users == 0 else { return false }
            state.copies[name] = nil
            return true
        }
        if isLast { await spool.remove([lent]) }
        return try result.get()
    }

    /// - Returns: the file to remove; nothing while the file is in use.
    private static func drop(_ name: String, _ state: inout State) -> [String] {
        guard let copy = state.copies[name], !copy.isDropped else { return [] }
        state.size -= copy.size
        guard copy.users == 0 else {
            state.copies[name]?.isDropped = true
            return []
        }
        state.copies[name] = nil
        return [copy.file]
    }
}
