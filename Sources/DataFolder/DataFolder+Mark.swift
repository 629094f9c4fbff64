import Basics
import Foundation
import ScribeStore
import SystemPackage

/// Mark of a data folder, and names of the server's own files. The server changes and removes nothing else.
extension DataFolder.Layout {
    /// Whether a server has used the folder: its mark is in ``lock``, or ``current`` names a state with a database.
    var isMarked: Bool {
        if let line = try? FileSystem.beginning(of: lock, .noFollow), line.starts(with: FileRights.dataFolderMark) {
            return true
        }
        guard let name = try? currentName() else { return false }
        return FileSystem.size(ofFile: state(name).database) != nil
    }

    /// Writes the mark into the lock file of a new folder, before the folder gets any other file. Blocking.
    /// - Throws: ``Problem``.
    func mark(_ file: FileDescriptor) throws {
        try Problem.at(lock) {
            guard try file.seek(offset: 0, from: .end) == 0 else { return }
            _ = try file.writeAll(FileRights.dataFolderMark)
            try FileSystem.syncFile(file)
            try FileSystem.syncFolder(path)
        }
    }

    /// Requires a marked folder, or one that is missing or holds nothing of anybody else. Blocking.
    /// - Parameter tolerated: names that may be there before the first start.
    /// - Throws: ``Problem``.
    func requireOurs(tolerating tolerated: Set<String>) throws {
        guard FileSystem.isFolder(path) else { return }
        guard access(path, R_OK | X_OK) == 0 else { throw Problem(Errno(rawValue: errno), at: path) }
        let names = try Problem.at(path) { try FileManager.default.contentsOfDirectory(atPath: path) }
        // Read after the names: another server that starts now writes its mark before anything else.
        guard !isMarked else { return }
        let others = names.filter { !tolerated.contains($0) && !isOfFirstStart($0) }
        guard others.isEmpty else { throw Problem.isOther(path: path, holds: others.sorted()) }
    }

    /// Whether the name may be in a folder before its first start: a volume's `lost+found`, folders of the server on
    /// volumes of their own, without any file, and an empty ``lock``, which a killed start leaves.
    private func isOfFirstStart(_ name: String) -> Bool {
        let place = "\(path)/\(name)"
        switch name {
        case "lost+found": return true
        case "states", "work":
            guard FileSystem.isFolder(place), let all = FileManager.default.enumerator(atPath: place) else {
                return false
            }
            return all.allSatisfy { FileSystem.isFolder("\(place)/\($0)") }
        case "lock":
            var info = stat()
            return lstat(place, &info) == 0 && info.st_mode & S_IFMT == S_IFREG && info.st_size == 0
        default: return false
        }
    }

    /// Removes the temporary files that a killed server left. Blocking.
    func emptyWorkFolder() {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: work)) ?? []
        for name in names where ["spool", "worlds"].contains(name) || name.beginsWithUUID {
            try? FileManager.default.removeItem(atPath: "\(work)/\(name)")
        }
    }
}
