import Basics
import Foundation
import ObjectStorage
import ScribeStore
import SystemPackage

extension Backup {
    /// Restores a backup into `folder`, which must hold no data. Blocking.
    ///
    /// The backup becomes a state of its own. One rename makes that state the valid one, so that a kill before the
    /// rename leaves a folder without data. Callers that use the data open the folder again.
    /// - Parameter secrets: file names of the families' keys.
    /// - Throws: ``Problem``, `DataFolder.Problem`, `Store.Problem`.
    package static func restore(_ file: String, into folder: DataFolder, secrets: [String]) throws -> Summary {
        guard FileManager.default.fileExists(atPath: file) else { throw Problem.noSuchPath(file) }
        guard FileManager.default.isReadableFile(atPath: file) else { throw Problem.unreadableBackup(file) }
        guard !SQLiteFile.holdsRows(in: folder.databasePath) else {
            throw DataFolder.Problem.holdsData(path: folder.path)
        }
        let layout = DataFolder.Layout(path: folder.path)
        let name = layout.unusedName
        let state = layout.state(name)
        try layout.makeFolder(state.path)
        // A server that used the folder before would remove the state until `current` names it.
        let hold = try? FolderLock(state.path, LOCK_SH)
        defer { hold?.release() }
        do {
            let all = [DataFolder.signingKey] + secrets
            try extract(file, into: state, keys: all)
            let keys = all.filter { FileManager.default.fileExists(atPath: "\(state.path)/\($0)") }
            let files = try check(state, of: file)
            try install(name, keys: keys, in: layout)
            return Summary(objects: files)
        } catch {
            // A failure after the rename leaves the state valid.
            if let current = try? layout.currentName(), current != name {
                try? FileManager.default.removeItem(atPath: state.path)
            }
            guard let code = error as? Errno else { throw error }
            throw DataFolder.Problem(code, at: folder.path)
        }
    }

    private static func extract(_ file: String, into state: StateFolder, keys: [String]) throws {
        do {
            try TarReader.read(file) { entry in
                let name = entry.name.split(separator: "/").last.map(String.init) ?? ""
                let isUpload = ObjectFiles.isName(name) && entry.name == "objects/\(ObjectFiles.relativePath(of: name))"
                guard isUpload || entry.name == first || keys.contains(entry.name) else {
                    throw SnapshotProblem.foreign
                }
                let path = "\(state.path)/\(entry.name)"
                try FileSystem.makeFolder(URL(fileURLWithPath: path).deletingLastPathComponent().path)
                return path
            }
        } catch let problem as SnapshotProblem {
            guard case .damaged(let reason) = problem else { throw Problem.notABackup(file: file) }
            throw Problem.damaged(reason: "\(file): \(reason)")
        } catch Errno.fileExists {
            throw Problem.notABackup(file: file)
        }
    }

    /// Checks that the extracted files are those of a backup, and of the kinds that `backup` writes.
    /// - Returns: the number of uploads.
    private static func check(_ state: StateFolder, of file: String) throws -> Int {
        guard FileManager.default.fileExists(atPath: state.database) else { throw Problem.notABackup(file: file) }
        switch try SQLiteFile.content(of: state.database, filesSQL: filesSQL) {
        case .intact(let files):
            for upload in files
            where FileSystem.size(ofFile: "\(state.objects)/\(ObjectFiles.relativePath(of: upload))") == nil {
                throw Problem.damaged(reason: "an upload is missing in \(file)")
            }
            return files.count
        case .newer: throw Problem.newerBackup(file: file)
        case .damaged(let reason): throw Problem.damaged(reason: "\(file): \(reason)")
        case .full: throw Errno.noSpace
        case .unreadable:
            throw Problem.damaged(reason: "\(file) holds no database of scribe-emulator that can be read")
        }
    }

    private static func install(_ name: String, keys: [String], in layout: DataFolder.Layout) throws {
        let state = layout.state(name)
        try layout.makeFolder(state.objects)
        let modes: [(String, mode_t)] =
            [(state.objects, 0o700), (state.database, 0o600)] + keys.map { ("\(state.path)/\($0)", 0o600) }
        for (path, mode) in modes {
            guard chmod(path, mode) == 0 else { throw Errno(rawValue: errno) }
        }
        // Synced before the rename: a power cut would leave empty files otherwise.
        sync()
        for key in keys {
            let target = "\(layout.path)/\(key)"
            // An operator may have put a key there, which must not be lost.
            if !FileManager.default.contentsEqual(atPath: target, andPath: "\(state.path)/\(key)") {
                _ = linkat(AT_FDCWD, target, AT_FDCWD, "\(target).before-restore", 0)
            }
            try moveFile("\(state.path)/\(key)", to: target)
        }
        try layout.setCurrent(name)
    }

    /// Moves a file, also to another disk: the folder with the states may be a mounted volume.
    private static func moveFile(_ source: String, to target: String) throws {
        if rename(source, target) == 0 { return }
        guard errno == EXDEV else { throw DataFolder.Problem(Errno(rawValue: errno), at: target) }
        try copyFile(source, to: "\(target).new")
        sync()
        guard rename("\(target).new", target) == 0 else { throw DataFolder.Problem(Errno(rawValue: errno), at: target) }
        unlink(source)
    }
}

extension DataFolder.Layout {
    /// A free name for a new state.
    fileprivate var unusedName: String {
        var number = 1
        while FileManager.default.fileExists(atPath: state("\(number)").path) { number += 1 }
        return "\(number)"
    }
}
