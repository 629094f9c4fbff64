/// Error of PostgreSQL or of the connection to it. Its texts name no values: messages of PostgreSQL may quote them.
enum PostgreSQLError: Error, Hashable, CustomStringConvertible {
    /// PostgreSQL refuses a statement.
    /// - Parameter state: its SQLSTATE, five characters.
    case refused(state: String)
    /// The connection has ended, or there is none.
    case disconnected
    /// The connection ended at the commit, and it is not known whether PostgreSQL has stored the write.
    case unknownCommit

    var description: String {
        switch self {
        case .refused(let state): "PostgreSQL refuses the statement: SQLSTATE \(state)"
        case .disconnected: "PostgreSQL cannot be reached"
        case .unknownCommit: "the connection to PostgreSQL ended at the commit"
        }
    }

    /// Whether the same write may succeed at once: it lost against another write, and has changed nothing.
    var isConflict: Bool {
        guard case .refused(let state) = self else { return false }
        return ["40001", "40P01", "23505"].contains(state)
    }

    /// Whether another version has changed a table since the connection prepared a statement with all its columns.
    var isStalePlan: Bool { self == .refused(state: "0A000") }

    /// Whether a text is too long for an index: an entry takes at most 2,704 bytes, after compression.
    var isTooLong: Bool { self == .refused(state: "54000") }

    /// Whether PostgreSQL cannot store at present: resources, an administrator's stop, a broken connection.
    var isUnavailable: Bool {
        switch self {
        case .disconnected, .unknownCommit: true
        case .refused(let state): ["08", "53", "57", "58"].contains { state.hasPrefix($0) } || state == "25006"
        }
    }
}
