import Foundation
import SystemPackage

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

extension DataFolder.Layout {
    /// Makes the first state from the data of an earlier version, or an empty one.
    /// - Returns: the name of the state.
    func makeFirst() throws -> String {
        let others = stateNames().filter { $0 != Self.first }
        guard others.isEmpty else { throw unnamed(stateNames()) }
        // A killed start leaves no folder in the database's old place without the state's folder.
        guard DataFolder.isFolder(firstState.path) || !DataFolder.isFolder(old.database) else {
            throw Problem.stateless(file: current, reason: "is missing, and so are the states")
        }
        let lock = lockedForMove()
        defer { lock?.release() }
        let isOlder = old.hasDatabase || isBeingMoved
        for step in steps { try step() }
        if isOlder {
            opening.note(
                "\(path) was of an earlier version: its database and uploads are in \(firstState.path) now")
        }
        return Self.first
    }

    /// Error for a missing `current`, with the names of the states in the folder.
    func unnamed(_ names: [String]) -> Problem {
        .stateless(
            file: current,
            reason: """
                is missing, and \(states) holds \(names.joined(separator: ", ")): \
                write the name of the valid one into it
                """)
    }

    /// Locks the folder, after the backups that read the old place. Nil where the file system has no locks.
    private func lockedForMove() -> FolderLock? {
        do {
            return try FolderLock(path, LOCK_EX | LOCK_NB)
        } catch Errno.wouldBlock {
            opening.note("a backup reads \(path): the first start of this version waits for the backup")
            return try? FolderLock(path, LOCK_EX)
        } catch {
            return nil
        }
    }

    /// Steps that make the first state, in order. Each step can be repeated after a kill.
    ///
    /// A log that is separated from its database for a while loses nothing: this version opens neither file until
    /// `current` exists. The first step keeps earlier versions out, which would open both files.
    var steps: [() throws -> Void] {
        var steps: [() throws -> Void] = [keepEarlierVersionsOut, makeState, moveObjects, moveDatabase, closeOldPlace]
        for suffix in StateFolder.companions { steps.append { try moveCompanion(suffix) } }
        steps += [makeFiles, { try setCurrent(Self.first) }]
        return steps
    }

    /// Whether `work` is the empty file that keeps earlier versions out.
    var isBeingMoved: Bool { StateFolder.size(ofFile: work) == 0 }

    /// Replaces the folder `work` with an empty file, so that an earlier version ends with an error. After a kill, such
    /// a version would find half of the data, or none.
    private func keepEarlierVersionsOut() throws {
        guard old.hasDatabase, !isBeingMoved else { return }
        guard !firstState.hasDatabase else { throw Problem.doubled(old.database, firstState.database) }
        try requireWritable(old.database)
        try requireOurs()
        try opening.requireKeys(in: path, database: old.database)
        if DataFolder.isFolder(work) {
            // Renamed before the removal, because a backup of an earlier version may be creating files in the folder.
            try? FileManager.default.removeItem(atPath: removedWork)
            guard rename(work, removedWork) == 0 else {
                let code = errno
                guard code == EBUSY || code == EXDEV else { throw Problem(Errno(rawValue: code), at: work) }
                throw Problem.unusable(
                    path: work, reason: "it is another disk, and the first start of this version must do without it")
            }
        } else if FileManager.default.fileExists(atPath: work) {
            throw Problem.unusable(path: work, reason: Self.isFile)
        }
        try createFile(work)
        try? FileManager.default.removeItem(atPath: removedWork)
    }

    /// Requires a database in the old place that this version can open. Any other file stays in place.
    private func requireOurs() throws {
        let database = old.database
        do {
            switch try SQLiteFile.owner(of: database) {
            case .nobody, .ours: return
            case .newer: throw Store.Problem.newerSchema(path: database)
            case .foreign: throw Store.Problem.foreign(path: database)
            }
        } catch {
            throw StorageFailure.problem(of: error, path: database)
        }
    }

    private func makeState() throws {
        do {
            for folder in [states, firstState.path] { try makeFolder(folder) }
        } catch let problem as Problem {
            throw abandoned(problem)
        }
    }

    /// Moves the uploads before the database, because this step can fail: the uploads may be a volume of their own.
    private func moveObjects() throws {
        let (source, target) = (old.objects, firstState.objects)
        if old.hasDatabase, let disk = otherDisk { throw abandoned(disk) }
        var info = stat()
        guard lstat(source, &info) == 0 else {
            guard errno == ENOENT else { throw Problem(Errno(rawValue: errno), at: source) }
            return
        }
        try makeLinkAbsolute(source)
        guard rename(source, target) != 0 else { return }
        let code = errno
        switch code {
        // An earlier version that was kept out leaves an empty folder.
        case ENOTEMPTY, EEXIST, EBUSY, EXDEV: if rmdir(source) == 0 { return }
        default: break
        }
        switch code {
        case ENOTEMPTY, EEXIST: throw abandoned(.doubled(source, target))
        case EXDEV, EBUSY:
            throw abandoned(
                otherDisk ?? .unusable(path: source, reason: "it is another disk, whose place is \(target) now"))
        default: throw abandoned(Problem(Errno(rawValue: code), at: source))
        }
    }

    /// Lets an earlier version use the folder again if nothing was moved yet.
    private func abandoned(_ problem: Problem) -> Problem {
        let hasMovedObjects = DataFolder.isFolder(firstState.objects) && !DataFolder.isFolder(old.objects)
        if old.hasDatabase, isBeingMoved, !hasMovedObjects { unlink(work) }
        return problem
    }

    /// Error for the first state's folder that is on another disk than the data folder; nil where both are on the same
    /// disk.
    private var otherDisk: Problem? {
        let disk = [states, firstState.path].first { folder in
            // Linux checks for different disks before it checks for the missing file. Nothing is renamed.
            rename("\(path)/.probe", "\(folder)/.probe") != 0 && errno == EXDEV
        }
        return disk.map {
            .unusable(
                path: $0, reason: "it is another disk, and the data of an earlier version are moved within their own")
        }
    }

    private func moveDatabase() throws {
        guard old.hasDatabase else { return }
        try move(old.database, to: firstState.database)
    }

    private func moveCompanion(_ suffix: String) throws {
        guard firstState.hasDatabase else { return }
        try move(old.database + suffix, to: firstState.database + suffix)
    }

    private func move(_ source: String, to target: String) throws {
        guard StateFolder.size(ofFile: source) != nil else { return }
        guard StateFolder.size(ofFile: target) ?? 0 == 0 else { throw Problem.doubled(source, target) }
        try makeLinkAbsolute(source)
        guard rename(source, target) == 0 else { throw Errno(rawValue: errno) }
    }

    /// Makes a link absolute, because a relative link would lead elsewhere from its new place.
    private func makeLinkAbsolute(_ source: String) throws {
        guard let target = try? FileManager.default.destinationOfSymbolicLink(atPath: source), !target.hasPrefix("/")
        else { return }
        let link = "\(source).link"
        unlink(link)
        guard symlink("\(path)/\(target)", link) == 0, rename(link, source) == 0 else {
            throw Errno(rawValue: errno)
        }
    }

    private func makeFiles() throws {
        try makeFolder(firstState.objects)
        // SQLite's log and index take the mode of the database. The data folder may be the user's own, with any mode.
        try createFile(firstState.database)
    }
}
