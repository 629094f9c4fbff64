import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

extension DataFolder {
    /// The names of the states that are not valid and that a server has made. An operator's copy has another name.
    private var otherStates: [String] {
        let layout = Layout(path: path)
        return layout.stateNames().filter { Layout.isOfServer($0) && layout.state($0) != state }
    }

    /// Whether there are states for ``removeOtherStates()`` to remove. Blocking.
    package var hasOtherStates: Bool { !otherStates.isEmpty || !Layout(path: path).removedStates.isEmpty }

    /// Removes the states that are not valid, but for those that a backup holds: they are left for the next start. A
    /// caller opens the valid database first, for until then another state may be the only good one. Blocking.
    ///
    /// A program that makes a state holds a shared ``FolderLock`` on it until `current` names it.
    /// - Returns: the names of the states that were removed.
    @discardableResult package func removeOtherStates() -> [String] {
        let layout = Layout(path: path)
        for place in layout.removedStates { FolderLock.removeUnlocked(place) }
        return otherStates.filter { name in
            let place = layout.state(name).path
            guard let lock = try? FolderLock(place, LOCK_EX | LOCK_NB) else { return false }
            defer { lock.release() }
            // Another server may have made it the valid one since.
            guard lock.isStill(at: place), let current = try? layout.currentName(), current != name
            else { return false }
            // Under its own name a half of it would look like a state.
            let removed = layout.removedState(name)
            guard rename(place, removed) == 0 else { return false }
            try? FileManager.default.removeItem(atPath: removed)
            return true
        }
    }
}

extension DataFolder.Layout {
    private static let staging = ".backup-"
    private static let removed = ".removed-"

    /// The folder in which the backup of that name gathers what it archives. It is outside of what the first start moves
    /// or removes.
    func staging(_ name: String) -> String { "\(path)/\(Self.staging)\(name)" }

    /// The place of `work` while it is removed.
    var removedWork: String { "\(path)/\(Self.removed)work" }

    fileprivate func removedState(_ name: String) -> String { "\(states)/\(Self.removed)\(name)" }

    /// The states whose removal has begun.
    fileprivate var removedStates: [String] { places(in: states, Self.removed) }

    /// Removes what killed backups and starts have left in the data folder. Blocking.
    func removeLeftovers() {
        for place in places(in: path, Self.staging) + [removedWork] { FolderLock.removeUnlocked(place) }
    }

    private func places(in folder: String, _ prefix: String) -> [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return names.filter { $0.hasPrefix(prefix) }.map { "\(folder)/\($0)" }
    }
}
