import Basics
import Foundation
import ScribeStore
import SystemPackage

extension DataFolder {
    /// Paths of all files in a data folder.
    ///
    /// `current` names the folder in `states` that holds the valid database and its uploads. Lock, reserve, keys and
    /// `work` are beside it.
    struct Layout: Sendable {
        typealias Problem = DataFolder.Problem

        let path: String

        /// The name of the first state of each folder.
        static let first = "1"

        var current: String { "\(path)/current" }
        var states: String { "\(path)/states" }
        /// Path of the file that a server locks, and that marks a data folder.
        var lock: String { "\(path)/lock" }
        var work: String { "\(path)/work" }
        /// Path of a file that says that the server keeps its rows elsewhere, as in memory.
        var memoryMark: String { "\(path)/rows-in-memory" }

        func state(_ name: String) -> StateFolder { StateFolder(path: "\(states)/\(name)") }

        var firstState: StateFolder { state(Self.first) }

        /// Names of all states, valid or not. Files and a volume's `lost+found` are not states.
        func stateNames() -> [String] {
            let names = (try? FileManager.default.contentsOfDirectory(atPath: states)) ?? []
            return names.filter { Self.isName($0) && FileSystem.isFolder(state($0).path) }.sorted()
        }

        /// Whether a server made the state of that name: servers use numbers and UUIDs.
        static func isOfServer(_ name: String) -> Bool {
            isName(name) && name.allSatisfy(\.isNumber) || UUID(uuidString: name) != nil
        }

        private static func isName(_ name: String) -> Bool {
            (1...64).contains(name.utf8.count)
                && name.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") }
        }

        /// Reads the name of the valid state. Blocking.
        /// - Returns: nil where `current` is missing.
        /// - Throws: ``Problem``.
        func currentName() throws -> String? {
            let bytes: [UInt8]
            do {
                bytes = try FileSystem.beginning(of: current)
            } catch Errno.noSuchFileOrDirectory {
                return nil
            } catch {
                throw Problem(error, at: current)
            }
            let name = String(decoding: bytes, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
            guard !name.isEmpty else { throw Problem.stateless(file: current, reason: "is empty") }
            guard Self.isName(name) else { throw Problem.stateless(file: current, reason: "does not name a state") }
            return name
        }

        /// Makes `name` the valid state. A kill or a power cut leaves the state before it, or this one. Blocking.
        /// - Throws: `Errno`.
        func setCurrent(_ name: String) throws {
            // The state is synced before `current` names it.
            for folder in [state(name).path, states] { try FileSystem.syncFolder(folder) }
            try FileSystem.replace(current, with: Array("\(name)\n".utf8))
        }

        /// Syncs a state's database, which no connection has open. Blocking.
        /// - Throws: ``Problem``.
        func sync(_ state: StateFolder) throws {
            try Problem.at(state.database) {
                let file = try FileDescriptor.open(FilePath(state.database), .readWrite, options: .closeOnExec)
                try file.closeAfter { try FileSystem.syncFile(file) }
            }
        }

        /// Whether the folder holds data. A database of the schema without rows is none. Blocking.
        /// - Throws: ``Problem``.
        func holdsData() throws -> Bool {
            guard let name = try validName() else { return false }
            return SQLiteFile.holdsRows(in: state(name).database)
        }

        /// Prepares the folder for a server, also after a killed start. The caller holds the lock of the data folder.
        /// Blocking.
        /// - Parameter keepsRows: whether the folder has a state.
        /// - Returns: the valid state, nil for a server that keeps its rows elsewhere; and whether its database is new.
        /// - Throws: ``Problem``, `Store.Problem`.
        func prepare(keepsRows: Bool) throws -> (state: StateFolder?, isNew: Bool) {
            do {
                let (state, isNew) = keepsRows ? try preparedState() : (nil, false)
                if !keepsRows { try createFile(memoryMark) }
                try makeFolder(work)
                for folder in [path, work] { try requireUsable(folder) }
                return (state, isNew)
            } catch let code as Errno {
                throw Problem(code, at: path)
            }
        }

        private func preparedState() throws -> (state: StateFolder?, isNew: Bool) {
            try requireStatesFolder()
            let (name, isNew) = try currentName().map { ($0, false) } ?? makeFirst()
            let state = self.state(name)
            try requireDatabase(of: state, isWritten: true)
            try makeFolder(state.objects)
            try requireUsable(state.objects)
            return (state, isNew)
        }

        /// Requires the database of the state that `current` names. A missing or an empty database is never replaced by
        /// a new one.
        /// - Parameter isWritten: whether this user must have the right to write to it.
        /// - Throws: ``Problem/stateless(file:reason:)`` for a missing database; `Store.Problem.damaged` for an empty
        ///   one; other cases of ``Problem``.
        func requireDatabase(of state: StateFolder, isWritten: Bool = false) throws {
            var info = stat()
            if stat(state.database, &info) != 0 {
                switch errno {
                case ENOENT, ENOTDIR:
                    throw Problem.stateless(file: current, reason: "leads to \(state.database), which is missing")
                case let code: throw Problem(Errno(rawValue: code), at: state.path)
                }
            }
            if isWritten { try requireWritable(state.database) }
            do {
                // Bytes 40 to 43 of a database count the changes of its schema.
                guard try FileSystem.beginning(of: state.database).dropFirst(40).prefix(4).contains(where: { $0 != 0 })
                else {
                    throw Store.Problem.damaged(path: state.database)
                }
            } catch let code as Errno {
                throw Problem(code, at: state.database)
            }
        }

        /// Requires that `states`, if it is there, is a folder that this user may read.
        private func requireStatesFolder() throws {
            guard FileManager.default.fileExists(atPath: states) else { return }
            guard FileSystem.isFolder(states) else { throw Problem.unusable(path: states, reason: Self.isFile) }
            guard access(states, R_OK | X_OK) == 0 else { throw Problem(Errno(rawValue: errno), at: states) }
        }

        /// Reason text for a file in the place of a folder.
        static let isFile = "it is a file, and a folder is expected"

        /// Creates a folder in the data folder.
        /// - Throws: ``Problem`` with the folder's path.
        func makeFolder(_ folder: String) throws {
            do {
                try FileSystem.makeFolder(folder)
            } catch Errno.fileExists {
                throw Problem.unusable(path: folder, reason: Self.isFile)
            } catch {
                throw Problem(error, at: folder)
            }
        }

        /// Requires that this user can create files in a folder. Otherwise the server would start and fail each upload.
        private func requireUsable(_ folder: String) throws {
            guard access(folder, R_OK | W_OK | X_OK) == 0 else { throw Problem(Errno(rawValue: errno), at: folder) }
        }

        private func requireWritable(_ file: String) throws {
            try Problem.at(file) { try FileDescriptor.open(FilePath(file), .readWrite, options: .closeOnExec).close() }
        }

        func createFile(_ file: String) throws {
            try FileDescriptor.open(
                FilePath(file), .readWrite, options: [.create, .closeOnExec], permissions: .ownerReadWrite
            ).close()
        }
    }
}
