import Foundation
package import NIOPosix
import ScribeDomain

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// A little room that is kept back on the disk. On a full one not even a deletion can be written, and no server can be
/// started: then it is given up, and taken again when there is room.
package final class StorageReserve: Sendable {
    /// In bytes: for some hundred deletions, and for opening the database.
    private static let size = 4 << 20

    private let path: String
    private let pool: NIOThreadPool
    private let isHeld = LockedValue(false)

    /// Takes the room, or gives up what was taken before where the disk is full. Blocking.
    /// - Parameter path: of the file that holds it.
    package init(path: String, pool: NIOThreadPool) {
        self.path = path
        self.pool = pool
        take()
    }

    /// Whether there is room for anything but deletions.
    package var hasRoom: Bool { isHeld.withLock { $0 } }

    /// What is left on the disk while the reserve is given up is for deletions.
    /// - Throws: ``ScribeError/storageUnavailable(cause:)`` until there is room for the reserve again.
    package func requireRoom() async throws {
        if hasRoom { return }
        try await pool.runIfActive { self.take() }
        guard hasRoom else { throw ScribeError.storageUnavailable(cause: "what is left is kept for deletions") }
    }

    /// Does what frees room on the disk, with the reserve where it cannot be done without.
    /// - Throws: what `body` throws.
    package func freeing<Value: Sendable>(_ body: () async throws -> Value) async throws -> Value {
        do {
            let value = try await body()
            if !hasRoom { try? await pool.runIfActive { self.take() } }
            return value
        } catch ScribeError.storageUnavailable {
            try await pool.runIfActive { self.release() }
            return try await body()
        }
    }

    private func take() {
        isHeld.withLock { isHeld in
            guard !isHeld else { return }
            let file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
            guard file >= 0 else { return }
            // As much again must be left, or taking it would be what fills the disk.
            isHeld = posix_fallocate(file, 0, off_t(Self.size * 2)) == 0 && ftruncate(file, off_t(Self.size)) == 0
            close(file)
            if !isHeld { unlink(path) }
        }
    }

    private func release() {
        isHeld.withLock { isHeld in
            unlink(path)
            isHeld = false
        }
    }
}
