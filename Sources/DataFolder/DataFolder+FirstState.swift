import Basics
import Foundation
import ScribeStore

extension DataFolder.Layout {
    /// Makes the first state, or finishes one that a killed start left. `current` names the state when its schema is
    /// committed and synced. Blocking.
    ///
    /// A first state with rows is named as it is: `current` is lost, and no other state can be meant.
    /// - Returns: the name of the state, and whether it has a new database.
    /// - Throws: ``Problem``, `Store.Problem`, or `Errno`.
    func makeFirst() throws -> (name: String, isNew: Bool) {
        try requireNoOtherState()
        try requireNoUploadsAlone()
        for folder in [states, firstState.path, firstState.objects] { try makeFolder(folder) }
        // SQLite's log and index take the mode of the database. The data folder may be the user's own, with any mode.
        try createFile(firstState.database)
        let isNew = FileSystem.size(ofFile: firstState.database) ?? 0 == 0
        try SQLiteFile.makeSchema(in: firstState.database)
        try sync(firstState)
        try setCurrent(Self.first)
        return (Self.first, isNew)
    }

    /// Finds the valid state: the one in `current`, else the first state if it is the only one, which the next start
    /// will name. Blocking.
    /// - Returns: nil in a folder without a database.
    /// - Throws: ``Problem``.
    func validName() throws -> String? {
        if let name = try currentName() { return name }
        try requireNoOtherState()
        return FileSystem.size(ofFile: firstState.database) == nil ? nil : Self.first
    }

    /// Requires that no state but the first is there. Without `current`, any of several states may be the valid one.
    private func requireNoOtherState() throws {
        let names = stateNames()
        guard names.allSatisfy({ $0 == Self.first }) else {
            throw Problem.stateless(
                file: current,
                reason: """
                    is missing, and \(states) holds \(names.joined(separator: ", ")): \
                    write the name of the valid one into it
                    """)
        }
    }

    /// Requires the database of a first state that has uploads. A killed first start leaves none, and a new database
    /// would know none of them: the server would remove them.
    private func requireNoUploadsAlone() throws {
        guard FileSystem.size(ofFile: firstState.database) ?? 0 == 0 else { return }
        let folders = (try? FileManager.default.contentsOfDirectory(atPath: firstState.objects)) ?? []
        let hasUploads = folders.contains { folder in
            let files = try? FileManager.default.contentsOfDirectory(atPath: "\(firstState.objects)/\(folder)")
            return folder.utf8.count == 2 && files?.isEmpty == false
        }
        guard !hasUploads else {
            throw Problem.stateless(
                file: current, reason: "is missing, and so is the database of the uploads in \(firstState.objects)")
        }
    }
}
