import Basics
import ScribeStore

extension Backup {
    package enum Problem: Error, CustomStringConvertible {
        case noDatabase(folder: String)
        /// The server of the folder keeps its rows in memory.
        case inMemory(folder: String)
        case notABackup(file: String)
        /// A later version of this program wrote the backup.
        case newerBackup(file: String)
        /// The database has no folder with uploads.
        case noObjects(path: String)
        case damaged(reason: String)
        case noSuchPath(String)
        case isFolder(String)
        case notWritable(String)
        /// The target is a device, a pipe or a socket.
        case isNoFile(String)
        case isLink(String)
        /// The target exists and is no backup.
        case isOther(String)
        /// The target is in the data folder: a start would remove the backup, or the backup would replace a file of the
        /// server.
        case inDataFolder(String)
        /// Another backup is writing the file.
        case isBeingWritten(String)
        case unwritable(String, reason: String)
        /// A key or an upload cannot be read.
        case unreadable(String)
        case unreadableBackup(String)
        /// An upload that the database names is missing.
        case missingUpload(String)

        package var description: String {
            switch self {
            case .noDatabase(let folder): "there is no scribe-emulator data in \(folder)"
            case .inMemory(let folder):
                """
                the server of \(folder) keeps its rows in memory; run scribe-emulator snapshot export to write them \
                to a file
                """
            case .notABackup(let file): "\(file) is no backup of scribe-emulator"
            case .newerBackup(let file):
                "\(file) was written by a later version of scribe-emulator; restore it with that version"
            case .noObjects(let path):
                "\(path) cannot be read; it belongs to the database beside it, so put it back first"
            case .damaged(let reason): "the backup is damaged: \(reason)"
            case .noSuchPath(let path): "\(path) does not exist"
            case .isFolder(let path): "\(path) is a folder; name a file"
            case .notWritable(let path): "\(path) cannot be written by this user; name a file in another folder"
            case .isNoFile(let path): "\(path) is a device or a pipe; name a file"
            case .isLink(let path): "\(path) is a link; name the file that it leads to"
            case .isOther(let path): "\(path) exists and is no backup, so it stays; name another file"
            case .inDataFolder(let path): "\(path) is in the data folder; name a file in another folder"
            case .isBeingWritten(let path): "another backup is writing \(path); name another file, or try again later"
            case .unwritable(let path, let reason): "\(path) cannot be written: \(reason)"
            case .unreadable(let path):
                "\(path) cannot be read by this user, and belongs in the backup; run backup as the server's user"
            case .unreadableBackup(let path):
                """
                \(path) cannot be read by this user. Run \(FileRights.ofKey(path)), or run restore as the file's owner
                """
            case .missingUpload(let path):
                "\(path) is missing, and the database names it; put it back, or delete the object that it belongs to"
            }
        }
    }
}
