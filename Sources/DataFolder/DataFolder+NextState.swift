import Basics
import Foundation
import SystemPackage

/// A state with the shared lock that keeps other programs from removing it.
package struct HeldState: Sendable {
    let folder: StateFolder
    /// Nil where the file system has no locks.
    let lock: FolderLock?

    init(folder: StateFolder) {
        self.folder = folder
        lock = try? FolderLock(folder.path, LOCK_SH)
    }

    package var databasePath: String { folder.database }
    package var objectsFolder: String { folder.objects }
}

/// Replacement of the valid state, while a server uses the folder.
///
/// A kill at any moment leaves the state before it or the one after it. The next start removes the other. A replacement
/// that failed half-way marks both, and no start removes them.
extension DataFolder {
    /// Makes a state beside the valid one, with an empty folder for uploads and without a database. Blocking.
    /// - Throws: ``Problem``.
    package func makeNextState() throws -> HeldState {
        let layout = Layout(path: path)
        // Numbers are not used again while a state of that name is being removed.
        var number = (layout.stateNames().compactMap(Int.init).max() ?? 0) + 1
        while FileManager.default.fileExists(atPath: layout.removedState("\(number)")) { number += 1 }
        let state = layout.state("\(number)")
        try layout.makeFolder(state.path)
        let held = HeldState(folder: state)
        try layout.makeFolder(state.objects)
        return held
    }

    /// Syncs a state's database, which no connection has open. Blocking.
    /// - Throws: ``Problem``.
    package func sync(_ state: HeldState) throws { try Layout(path: path).sync(state.folder) }

    /// Makes a state the valid one. Blocking.
    /// - Returns: the state that was valid before. Callers close its database, and then remove it.
    /// - Throws: ``Problem/backupRuns(path:)`` while a backup reads the valid state; ``Problem/halfReplaced(path:)`` if
    ///   the next start may open either state, so that this process must write no more; other cases of ``Problem``.
    package func replaceState(with next: HeldState) throws -> HeldState {
        let layout = Layout(path: path)
        let before = heldState
        // An exclusive lock cannot be had beside this server's own shared one.
        before.lock?.release()
        var exclusive: FolderLock?
        do {
            exclusive = try FolderLock(before.folder.path, LOCK_EX | LOCK_NB)
        } catch Errno.wouldBlock {
            valid.withLock { $0 = HeldState(folder: before.folder) }
            throw Problem.backupRuns(path: path)
        } catch {
            // The file system has no locks.
        }
        defer { exclusive?.release() }
        do {
            try layout.setCurrent(URL(fileURLWithPath: next.folder.path).lastPathComponent)
        } catch {
            // Two locks of one process exclude each other.
            exclusive?.release()
            valid.withLock { $0 = HeldState(folder: before.folder) }
            guard (try? layout.currentName()) == URL(fileURLWithPath: before.folder.path).lastPathComponent else {
                // Only the sync has failed: a power cut may bring the name before it back.
                for state in [before.folder, next.folder] { try? layout.createFile(state.keepMark) }
                throw Problem.halfReplaced(path: path)
            }
            throw Problem(error, at: layout.current)
        }
        valid.withLock { $0 = next }
        return before
    }

    /// Removes a state that is not the valid one, without waiting for a backup that reads it: the next start removes
    /// it then. Blocking.
    package func remove(_ state: HeldState) {
        guard state.folder != self.state else { return }
        state.lock?.release()
        removeState(URL(fileURLWithPath: state.folder.path).lastPathComponent)
    }
}
