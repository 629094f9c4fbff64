import Basics
import Foundation

extension DataFolder {
    /// Names of invalid states that a server made. An operator's copy has another kind of name.
    private var otherStates: [String] {
        let (layout, kept) = (Layout(path: path), keptStates)
        return layout.stateNames().filter {
            Layout.isOfServer($0) && layout.state($0) != state && !kept.contains($0)
        }
    }

    /// Names of the states that a failed replacement keeps. Blocking.
    package var keptStates: [String] {
        let layout = Layout(path: path)
        return layout.stateNames().filter { FileSystem.size(ofFile: layout.state($0).keepMark) != nil }
    }

    /// Whether ``removeOtherStates()`` has states to remove. Blocking.
    package var hasOtherStates: Bool { !otherStates.isEmpty || !Layout(path: path).removedStates.isEmpty }

    /// Removes the invalid states, except those that a backup has locked: the next start removes them. Callers open the
    /// valid database first, because until then another state may be the only good one. Blocking.
    ///
    /// A program that makes a state holds a shared ``FolderLock`` on it until `current` names it.
    /// - Returns: the names of the removed states.
    @discardableResult package func removeOtherStates() -> [String] {
        let layout = Layout(path: path)
        for place in layout.removedStates { FolderLock.removeUnlocked(place) }
        return otherStates.filter(removeState)
    }

    /// Removes a state, unless it is the valid one or another program has locked it.
    @discardableResult func removeState(_ name: String) -> Bool {
        let layout = Layout(path: path)
        let place = layout.state(name).path
        guard let lock = try? FolderLock(place, LOCK_EX | LOCK_NB) else { return false }
        defer { lock.release() }
        // Another server may have made this state the valid one meanwhile.
        guard lock.isStill(at: place), let current = try? layout.currentName(), current != name
        else { return false }
        // Renamed first: under its own name a half-removed state would look like a whole one.
        let removed = layout.removedState(name)
        guard rename(place, removed) == 0 else { return false }
        try? FileManager.default.removeItem(atPath: removed)
        return true
    }
}

extension DataFolder.Layout {
    private static let staging = ".backup-"
    private static let removed = ".removed-"

    /// Path of a backup's staging folder.
    func staging(_ name: String) -> String { "\(path)/\(Self.staging)\(name)" }

    func removedState(_ name: String) -> String { "\(states)/\(Self.removed)\(name)" }

    /// Paths of the states whose removal has begun.
    fileprivate var removedStates: [String] { places(in: states, Self.removed) }

    /// Removes the folders that killed backups left in the data folder. Blocking.
    func removeLeftovers() {
        for place in places(in: path, Self.staging) { FolderLock.removeUnlocked(place) }
    }

    private func places(in folder: String, _ prefix: String) -> [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return names.filter { $0.hasPrefix(prefix) && Self.isOfServer("\($0.dropFirst(prefix.count))") }
            .map { "\(folder)/\($0)" }
    }
}
