import Foundation
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

    /// Why a folder cannot be used.
    package enum Problem: Error, Sendable, CustomStringConvertible {
        case inUse(path: String)
        case unusable(path: String, reason: String)

        package var description: String {
            switch self {
            case .inUse(let path): "\(path) is in use by another scribe-emulator"
            case .unusable(let path, let reason): "\(path) cannot be used: \(reason)"
            }
        }
    }

    /// Opens the folder at `path`, creating what is missing. Blocking.
    ///
    /// From here on its path is absolute: links and the programs that transcribe stand in other folders.
    /// - Throws: ``Problem``.
    package init(path: String) throws {
        let path = URL(fileURLWithPath: path).path
        self.path = path
        do {
            for folder in [path, "\(path)/objects", Self.workFolder(of: path)] {
                try FileManager.default.createDirectory(
                    atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700]
                )
            }
            lock = try FileDescriptor.open(
                FilePath("\(path)/lock"), .readWrite, options: [.create, .closeOnExec],
                permissions: .ownerReadWrite
            )
        } catch {
            throw Problem.unusable(path: path, reason: String(describing: error))
        }
        guard flock(lock.rawValue, LOCK_EX | LOCK_NB) == 0 else {
            try? lock.close()
            throw Problem.inUse(path: path)
        }
        // Its log and index files take its mode. The folder itself may be somebody's own, with a mode of its own.
        let database = open(databasePath, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        if database >= 0 { close(database) }
        // What a recogniser left behind when its server was killed.
        for name in (try? FileManager.default.contentsOfDirectory(atPath: workFolder)) ?? [] {
            try? FileManager.default.removeItem(atPath: "\(workFolder)/\(name)")
        }
    }

    deinit {
        release()
        try? lock.close()
    }

    /// Lets another server have the folder, when nothing of it is used any more. Closing the file would not be enough:
    /// a program that was just started may still hold it.
    package func release() { flock(lock.rawValue, LOCK_UN) }

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

    /// The secret kept in the file of that name, made from `fresh` on first use. Blocking.
    ///
    /// The file is readable by its owner only from the moment it exists, and complete from the moment it is seen.
    package func secret(named name: String, fresh: () throws -> [UInt8]) throws -> [UInt8] {
        let file = "\(path)/\(name)"
        if let data = FileManager.default.contents(atPath: file), !data.isEmpty { return [UInt8](data) }
        let bytes = try fresh()
        let temporary = FilePath("\(file).new")
        let descriptor = try FileDescriptor.open(
            temporary, .writeOnly, options: [.create, .truncate, .closeOnExec], permissions: .ownerReadWrite
        )
        try descriptor.closeAfter {
            _ = try descriptor.writeAll(bytes)
            fsync(descriptor.rawValue)
        }
        guard rename("\(file).new", file) == 0 else { throw Errno(rawValue: errno) }
        return bytes
    }
}
