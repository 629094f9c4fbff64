import Basics
import Foundation
package import NIOPosix
import ScribeDomain

/// Reserved disk space for a full disk. Without the reserve no deletion could be written, and no server could start.
/// The reserve is released on a full disk, and taken again when there is room.
package final class StorageReserve: Sendable {
    /// Size in bytes: enough for some hundred deletions, and for opening the database.
    private static let size = 4 << 20

    private let path: String?
    /// Folders on the disks that writes need.
    private let folders: [String]
    private let pool: NIOThreadPool
    private let isHeld: LockedValue<Bool>

    /// Takes the reserve, or releases an earlier one where the disk is full. Blocking.
    /// - Parameters:
    ///   - path: path of the reserve's file; nil for none, where no data outlive the server.
    ///   - folders: folders on the disks that writes need.
    package init(path: String?, folders: [String] = [], pool: NIOThreadPool) {
        self.path = path
        self.folders = folders
        self.pool = pool
        isHeld = LockedValue(path == nil)
        take()
    }

    /// Whether the disks take as much more as the reserve. Asks the disks: writes of others, quotas and limits of file
    /// sizes count too.
    package func hasRoom() async -> Bool {
        await
            (try? pool.runIfActive { [self] in
                take()
                return isHeld.withLock { $0 } && folders.allSatisfy(Self.hasRoom(in:))
            }) ?? false
    }

    private static func hasRoom(in folder: String) -> Bool {
        let file = OperatingSystem.openUnnamedFile(in: folder)
        guard file >= 0 else {
            guard ![ENOSPC, EDQUOT].contains(errno) else { return false }
            // A file system without such files.
            var info = statvfs()
            return statvfs(folder, &info) != 0
                || Int(clamping: info.f_bavail) >= size / max(1, Int(clamping: info.f_frsize))
        }
        defer { close(file) }
        return ![ENOSPC, EDQUOT, EFBIG].contains(OperatingSystem.allocate(size, for: file))
    }

    /// Requires room for a write that is no deletion. While the reserve is released, the rest of the disk is for
    /// deletions.
    /// - Throws: ``ScribeError/storageUnavailable(cause:)`` until there is room for the reserve again.
    package func requireRoom() async throws {
        if isHeld.withLock({ $0 }) { return }
        try await pool.runIfActive { self.take() }
        guard isHeld.withLock({ $0 }) else {
            throw ScribeError.storageUnavailable(cause: "what is left is kept for deletions")
        }
    }

    /// Runs a deletion, and releases the reserve if the disk is full.
    /// - Throws: the error of `body`.
    package func freeing<Value: Sendable>(_ body: () async throws -> Value) async throws -> Value {
        do {
            let value = try await body()
            if !isHeld.withLock({ $0 }) { try? await pool.runIfActive { self.take() } }
            return value
        } catch ScribeError.storageUnavailable {
            try await pool.runIfActive { self.release() }
            return try await body()
        }
    }

    private func take() {
        isHeld.withLock { isHeld in
            guard !isHeld, let path else { return }
            let file = open(path, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
            guard file >= 0 else { return }
            // Requires twice the size, because otherwise the reserve itself could fill the disk.
            isHeld = OperatingSystem.allocate(Self.size * 2, for: file) == 0 && ftruncate(file, off_t(Self.size)) == 0
            close(file)
            if !isHeld { unlink(path) }
        }
    }

    private func release() {
        guard let path else { return }
        isHeld.withLock { isHeld in
            unlink(path)
            isHeld = false
        }
    }
}
