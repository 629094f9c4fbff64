import Basics
import Foundation
import ScribeStore
import SystemPackage

extension DataFolder {
    /// Reasons why a data folder, or a file in it, cannot be used.
    package enum Problem: Error, Hashable, Sendable, CustomStringConvertible {
        case inUse(path: String)
        /// A file is where the folder should be.
        case isFile(path: String)
        /// This user has no right to write to the path.
        case notWritable(path: String)
        case readOnlyDisk(path: String)
        case full(path: String)
        case unusable(path: String, reason: String)
        /// Other users can read a key.
        case readableByOthers(file: String)
        /// This user cannot read a key.
        case unreadable(file: String)
        /// The signing key is missing, and the database has tokens that it signed.
        case missingSigningKey(file: String)
        /// `current` names no existing state.
        case stateless(file: String, reason: String)
        case holdsData(path: String)
        /// The folder is not ours, because it holds other files.
        case isOther(path: String, holds: [String])
        /// A backup reads the valid state.
        case backupRuns(path: String)
        /// A new state replaced the valid one, perhaps not on the disk.
        case halfReplaced(path: String)

        /// Maps a system error to a problem.
        /// - Parameter error: the system's error for the path.
        package init(_ error: any Error, at path: String) {
            switch error as? Errno {
            case .fileExists?: self = .isFile(path: path)
            case .permissionDenied?, .notPermitted?: self = .notWritable(path: path)
            case .readOnlyFileSystem?: self = .readOnlyDisk(path: path)
            case .noSpace?, .diskQuotaExceeded?: self = .full(path: path)
            case .notDirectory?: self = .unusable(path: path, reason: "a part of its path is a file")
            case .isDirectory?: self = .unusable(path: path, reason: "it is a folder, and a file is expected")
            case .noSuchFileOrDirectory?: self = .unusable(path: path, reason: "it cannot be created there")
            case let code?: self = .unusable(path: path, reason: code.description)
            case nil: self = .unusable(path: path, reason: "the system refuses it")
            }
        }

        /// Runs `body`, and maps its error to a problem of the path.
        static func at<Value>(_ path: String, _ body: () throws -> Value) throws -> Value {
            do {
                return try body()
            } catch {
                throw Self(error, at: path)
            }
        }

        /// Reason in a few words, for the path alone.
        private var reason: String {
            switch self {
            case .notWritable: "this user may not write there"
            case .readOnlyDisk: "its disk is read-only"
            case .full: "its disk is full"
            case .unusable(_, let reason): reason
            case .isFile: "it is a file"
            default: "\(self)"
            }
        }

        /// The message about a ``TemporaryDataFolder``, which users choose by `TMPDIR` alone.
        package func ofTemporaryFolder(_ path: String) -> String {
            """
            \(path) cannot be used for temporary files: \(reason). Set TMPDIR to a folder with room that this user may \
            write to
            """
        }

        private static let another = "choose another folder with --data-dir"

        package var description: String {
            switch self {
            case .inUse(let path): "\(path) is in use by another scribe-emulator; stop that one, or \(Self.another)"
            case .isFile(let path):
                "\(path) cannot be used as the data folder: it is a file. Move it, or \(Self.another)"
            case .notWritable(let path):
                "\(path) cannot be used: \(reason). \(FileRights.remedy(for: path)), or \(Self.another)"
            case .readOnlyDisk(let path): "\(path) cannot be used: \(reason). Remount it, or \(Self.another)"
            case .full(let path): "\(path) cannot be used: \(reason). Free some space, or \(Self.another)"
            case .unusable(let path, _): "\(path) cannot be used: \(reason). Fix this, or \(Self.another)"
            case .readableByOthers(let file):
                "\(file) is a key, and other users can read it. Run \(FileRights.ofKey(file)), then start again"
            case .unreadable(let file):
                "\(file) is a key, and this user cannot read it. Run \(FileRights.ofKey(file)), then start again"
            case .missingSigningKey(let file):
                """
                \(file) is missing, and the database beside it has logins that were signed with it. \
                Put the file back from a backup, name the key with --signing-key-file or SCRIBE_SIGNING_KEY if it came from \
                there, or start with --new-signing-key: all tokens and links that were handed out are then refused
                """
            case .stateless(let file, let reason):
                """
                \(file) \(reason). Restore a backup into a new folder with \
                scribe-emulator restore --data-dir NEW-FOLDER FILE, or \(Self.another)
                """
            case .holdsData(let path): "\(path) holds data already; restore into a new folder"
            case .isOther(let path, let names):
                """
                \(path) is not a data folder of scribe-emulator, and it holds \(names.prefix(5).joined(separator: ", "))\
                \(names.count > 5 ? " and \(names.count - 5) more" : ""). Name an empty or a new folder with --data-dir
                """
            case .backupRuns(let path): "a backup reads \(path); try again when it has ended"
            case .halfReplaced(let path):
                """
                \(path): the disk failed in the middle of a reset, so that this server may write no more. Both states \
                are kept; check the disk, then start again
                """
            }
        }
    }
}
