import Foundation
import GRDB
import SystemPackage

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

extension DataFolder.Layout {
    /// Makes the first state, of the data of an earlier version if there are any.
    /// - Returns: its name.
    func makeFirst() throws -> String {
        let others = stateNames().filter { $0 != Self.first }
        guard others.isEmpty else {
            throw Problem.stateless(
                file: current,
                reason: """
                    is missing, and \(states) holds \(stateNames().joined(separator: ", ")): \
                    write the name of the valid one into it
                    """)
        }
        // A start that is killed leaves no such folder without the state's.
        guard DataFolder.isFolder(firstState.path) || !DataFolder.isFolder(old.database) else {
            throw Problem.stateless(file: current, reason: "is missing, and so are the states")
        }
        // Waits for a backup that reads the old place.
        let lock = try? FolderLock(path, LOCK_EX)
        defer { lock?.release() }
        for step in steps { try step() }
        return Self.first
    }

    /// What makes the first state, in order. A step that was done, or done in part before a kill, can be done again.
    ///
    /// A log that is parted from its database for a while loses nothing: SQLite opens neither of them until `current` is
    /// there. An earlier version would, and is kept out from the first step on.
    var steps: [() throws -> Void] {
        var steps: [() throws -> Void] = [keepEarlierVersionsOut, makeState, moveObjects, moveDatabase, closeOldPlace]
        for suffix in StateFolder.companions { steps.append { try moveCompanion(suffix) } }
        steps += [makeFiles, { try setCurrent(Self.first) }]
        return steps
    }

    /// Whether `work` is the empty file that keeps earlier versions out.
    var isBeingMoved: Bool { StateFolder.size(ofFile: work) == 0 }

    /// Puts an empty file in the place of the folder `work`: with it an earlier version ends with an error. Without it one
    /// that starts after a kill would find half of the data, or none.
    private func keepEarlierVersionsOut() throws {
        guard old.hasDatabase, !isBeingMoved else { return }
        guard !firstState.hasDatabase else { throw Problem.doubled(old.database, firstState.database) }
        try requireWritable(old.database)
        try requireOurs()
        if DataFolder.isFolder(work) { try? FileManager.default.removeItem(atPath: work) }
        try createFile(work)
    }

    /// Requires that the old place holds a database that this version can open. Any other stays where it is.
    private func requireOurs() throws {
        let database = old.database
        do {
            var configuration = Configuration()
            configuration.busyMode = .timeout(5)
            let queue = try DatabaseQueue(path: database, configuration: configuration)
            defer { try? queue.close() }
            let isOurs = try queue.read { db in
                if try Schema.isNewer(db) { throw Store.Problem.newerSchema(path: database) }
                let id = try Int.fetchOne(db, sql: "PRAGMA application_id")
                let tables = try String.fetchSet(db, sql: "SELECT name FROM sqlite_master")
                return id == Schema.applicationID || id == 0 && (tables.isEmpty || tables.contains("grdb_migrations"))
            }
            guard isOurs else { throw Store.Problem.foreign(path: database) }
        } catch {
            throw Store.Problem.explained(error, path: database)
        }
    }

    private func makeState() throws {
        for folder in [states, firstState.path] { try DataFolder.makeFolder(folder) }
    }

    /// Before the database, for this is the step that can fail: the uploads may be a volume of their own.
    private func moveObjects() throws {
        let (source, target) = (old.objects, firstState.objects)
        try makeLinkAbsolute(source)
        guard rename(source, target) != 0 else { return }
        let code = errno
        switch code {
        case ENOENT: return
        // An earlier version that was kept out makes an empty one.
        case ENOTEMPTY, EEXIST, EBUSY, EXDEV: if rmdir(source) == 0 { return }
        default: break
        }
        // Nothing is moved yet: an earlier version can go on with it.
        if old.hasDatabase, isBeingMoved { unlink(work) }
        switch code {
        case ENOTEMPTY, EEXIST: throw Problem.doubled(source, target)
        case EXDEV, EBUSY:
            throw Problem.unusable(path: source, reason: "it is another disk, whose place is \(target) now")
        default: throw Errno(rawValue: code)
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

    /// A relative link would lead elsewhere from its new place.
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
        try DataFolder.makeFolder(firstState.objects)
        // Log and index take its mode. The data folder itself may be somebody's own, with a mode of its own.
        try createFile(firstState.database)
    }
}
