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

/// Reserved disk space for a full disk. Without the reserve no deletion could be written, and no server could start.
/// The reserve is released on a full disk, and taken again when there is room.
package final class StorageReserve: Sendable {
    /// Size in bytes: enough for some hundred deletions, and for opening the database.
    private static let size = 4 << 20

    private let path: String
    private let pool: NIOThreadPool
    private let isHeld = LockedValue(false)

    /// Takes the reserve, or releases an earlier one where the disk is full. Blocking.
    /// - Parameter path: path of the reserve's file.
    package init(path: String, pool: NIOThreadPool) {
        self.path = path
        self.pool = pool
        take()
    }

    /// Whether the disk has room for more than deletions.
    package var hasRoom: Bool { isHeld.withLock { $0 } }

    /// Requires room for a write that is no deletion. While the reserve is released, the rest of the disk is for
    /// deletions.
    /// - Throws: ``ScribeError/storageUnavailable(cause:)`` until there is room for the reserve again.
    package func requireRoom() async throws {
        if hasRoom { return }
        try await pool.runIfActive { self.take() }
        guard hasRoom else { throw ScribeError.storageUnavailable(cause: "what is left is kept for deletions") }
    }

    /// Runs a deletion, and releases the reserve if the disk is full.
    /// - Throws: the error of `body`.
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
            // Requires twice the size, because otherwise the reserve itself could fill the disk.
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
