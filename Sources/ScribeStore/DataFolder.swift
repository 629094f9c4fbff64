package import Foundation
import SystemPackage

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// The folder that holds all data of one server: `scribe.sqlite`, `objects/`, `work/`, the signing key and the
/// operators' token.
///
/// What is in it is readable by its owner only, and it is used by one process at a time.
package final class DataFolder: Sendable {
    package let path: String
    private let lock: FileDescriptor

    /// Opens the folder at `path`, creating what is missing. Blocking.
    ///
    /// From here on its path is absolute: links and the programs that transcribe stand in other folders.
    /// - Throws: ``Problem``.
    package init(path: String) throws {
        let path = URL(fileURLWithPath: path).path
        self.path = path
        do {
            for folder in [path, "\(path)/objects", Self.workFolder(of: path)] { try Self.makeFolder(folder) }
            lock = try FileDescriptor.open(
                FilePath("\(path)/lock"), .readWrite, options: [.create, .closeOnExec],
                permissions: .ownerReadWrite
            )
        } catch {
            throw Problem(error, at: path)
        }
        guard flock(lock.rawValue, LOCK_EX | LOCK_NB) == 0 else {
            try? lock.close()
            throw Problem.inUse(path: path)
        }
        // Its log and index files take its mode. The folder itself may be somebody's own, with a mode of its own.
        let database = open(databasePath, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        if database >= 0 {
            close(database)
        } else if [EACCES, EPERM, EROFS, EISDIR].contains(errno) {
            throw Problem(Errno(rawValue: errno), at: databasePath)
        }
        // What a recogniser left behind when its server was killed.
        for name in (try? FileManager.default.contentsOfDirectory(atPath: workFolder)) ?? [] {
            try? FileManager.default.removeItem(atPath: "\(workFolder)/\(name)")
        }
    }

    /// Creates a folder that only its owner can read, and the folders above it.
    /// - Throws: `Errno`.
    private static func makeFolder(_ path: String, mode: mode_t = 0o700) throws {
        if mkdir(path, mode) == 0 { return }
        switch errno {
        case EEXIST:
            guard isFolder(path) else { throw Errno.fileExists }
        case ENOENT:
            let parent = URL(fileURLWithPath: path).deletingLastPathComponent().path
            guard parent != path else { throw Errno.noSuchFileOrDirectory }
            try makeFolder(parent, mode: 0o777)
            guard mkdir(path, mode) == 0 || errno == EEXIST && isFolder(path) else { throw Errno(rawValue: errno) }
        case let code:
            // Some file systems refuse before they say that the folder exists.
            guard isFolder(path) else { throw Errno(rawValue: code) }
        }
    }

    private static func isFolder(_ path: String) -> Bool {
        var isFolder: ObjCBool = false
        return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) && isFolder.boolValue
    }

    deinit {
        release()
        try? lock.close()
    }

    /// Lets another server have the folder, when nothing of it is used any more. Closing the file would not be enough:
    /// a program that was just started may still hold it.
    package func release() { flock(lock.rawValue, LOCK_UN) }

    /// The name of the file with the key that signs tokens and links.
    package static let signingKey = "signing-key"
    /// The name of the file with the token that opens the door for operators.
    package static let adminToken = "admin-token"
    /// With which ambient sessions' tokens are signed.
    package static let ambientKey = "suki-signing-key.pem"

    package var databasePath: String { "\(path)/scribe.sqlite" }
    /// For ``StorageReserve``.
    package var reservePath: String { "\(path)/reserve" }
    package var objectsFolder: String { "\(path)/objects" }
    /// For files that live no longer than the work on them.
    package var workFolder: String { Self.workFolder(of: path) }

    static func workFolder(of path: String) -> String { path + "/" + "work" }

    /// Requires that other users cannot read the keys that are in the folder. Blocking.
    /// - Returns: the keys that the group can read, as in a volume that Kubernetes mounts with `fsGroup`.
    /// - Throws: ``Problem/readableByOthers(file:)``, ``Problem/unreadable(file:)``.
    package func requirePrivateKeys() throws -> [String] {
        var ofGroup: [String] = []
        for name in [Self.signingKey, Self.adminToken, Self.ambientKey] {
            let file = "\(path)/\(name)"
            // Of what a link leads to: a container mounts its secrets as links.
            var info = stat()
            guard stat(file, &info) == 0 else { continue }
            guard info.st_mode & 0o007 == 0 else { throw Problem.readableByOthers(file: file) }
            guard FileManager.default.isReadableFile(atPath: file) else { throw Problem.unreadable(file: file) }
            if info.st_mode & 0o070 != 0 { ofGroup.append(file) }
        }
        return ofGroup
    }

    /// Requires the signing key where the database has logins that were signed with it. Blocking.
    /// - Throws: ``Problem/missingSigningKey(file:)``, `Store.Problem`, or what SQLite says.
    package func requireSigningKey(at now: Date) throws {
        let file = "\(path)/\(Self.signingKey)"
        if let data = FileManager.default.contents(atPath: file), !data.isEmpty { return }
        if try Store.holdsRefreshTokens(in: self, at: now) { throw Problem.missingSigningKey(file: file) }
    }

    /// The secret kept in the file of that name, made from `fresh` on first use. Blocking.
    ///
    /// The file is readable by its owner only from the moment it exists, and complete from the moment it is seen.
    /// - Throws: ``Problem``, what `fresh` throws.
    package func secret(named name: String, fresh: () throws -> [UInt8]) throws -> [UInt8] {
        let file = "\(path)/\(name)"
        if let data = FileManager.default.contents(atPath: file), !data.isEmpty { return [UInt8](data) }
        let bytes = try fresh()
        do {
            let temporary = FilePath("\(file).new")
            let descriptor = try FileDescriptor.open(
                temporary, .writeOnly, options: [.create, .truncate, .closeOnExec], permissions: .ownerReadWrite
            )
            try descriptor.closeAfter {
                _ = try descriptor.writeAll(bytes)
                fsync(descriptor.rawValue)
            }
            guard rename("\(file).new", file) == 0 else { throw Errno(rawValue: errno) }
        } catch {
            throw Problem(error, at: file)
        }
        return bytes
    }
}
