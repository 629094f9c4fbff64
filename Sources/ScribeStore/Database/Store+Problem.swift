import Basics
import Foundation

extension Store {
    /// Reasons why a database cannot be used.
    package enum Problem: Error, Hashable, Sendable, CustomStringConvertible {
        /// A later version of this program wrote the database.
        case newerSchema(path: String)
        /// The installed SQLite lacks functions that the store uses.
        case olderSQLite(version: String)
        /// The file is damaged, and no longer a database.
        case damaged(path: String)
        /// The database belongs to another program.
        case foreign(path: String)
        /// This user may not open the database.
        case forbidden(path: String)
        case full(path: String)
        case unusable(path: String, reason: String)
        /// PostgreSQL cannot be used.
        case noPostgreSQL(reason: String)

        package var description: String {
            switch self {
            case .newerSchema(let path):
                """
                \(path) was written by a later version of scribe-emulator. \
                Start that version, or choose another folder with --data-dir
                """
            case .olderSQLite(let version): "SQLite \(version) is installed, and 3.38 or later is needed"
            case .damaged(let path):
                """
                \(path) is damaged. Restore a backup into a new folder with \
                scribe-emulator restore --data-dir NEW-FOLDER FILE, or start with another --data-dir
                """
            case .foreign(let path):
                "\(path) is the database of another program; choose another folder with --data-dir"
            case .forbidden(let path):
                """
                \(path) cannot be opened by this user. \
                \(FileRights.remedy(for: path)), \
                or choose another folder with --data-dir
                """
            case .full(let path):
                "\(path) cannot be opened: its disk is full. Free some space, then start again"
            case .unusable(let path, let reason):
                "\(path) cannot be used: \(reason). Fix this, or choose another folder with --data-dir"
            case .noPostgreSQL(let reason): "PostgreSQL cannot be used: \(reason)"
            }
        }

        /// Whether the database's disk has the room that opening a database takes.
        static func hasRoom(_ path: String) -> Bool {
            var info = statvfs()
            guard statvfs(URL(fileURLWithPath: path).deletingLastPathComponent().path, &info) == 0 else { return true }
            return UInt64(info.f_bavail) * UInt64(info.f_frsize) >= 1 << 20
        }

        /// Whether this user may write to the database's files and their folder.
        static func isWritable(_ path: String) -> Bool {
            let files = ["", "-wal", "-shm"].map { path + $0 }.filter(FileManager.default.fileExists(atPath:))
            let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
            return ([folder] + files).allSatisfy(FileManager.default.isWritableFile(atPath:))
        }
    }
}
