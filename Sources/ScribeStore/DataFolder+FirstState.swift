extension DataFolder.Layout {
    /// Makes the first state.
    /// - Returns: the name of the state.
    func makeFirst() throws -> String {
        let others = stateNames().filter { $0 != Self.first }
        guard others.isEmpty else { throw unnamed(stateNames()) }
        for folder in [states, firstState.path, firstState.objects] { try makeFolder(folder) }
        // SQLite's log and index take the mode of the database. The data folder may be the user's own, with any mode.
        try createFile(firstState.database)
        try setCurrent(Self.first)
        return Self.first
    }

    /// Error for a missing `current`, with the names of the states in the folder.
    func unnamed(_ names: [String]) -> Problem {
        .stateless(
            file: current,
            reason: """
                is missing, and \(states) holds \(names.joined(separator: ", ")): \
                write the name of the valid one into it
                """)
    }
}
