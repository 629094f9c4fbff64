/// Parts of each exchange that a journal keeps.
package enum JournalMode: String, CaseIterable, Sendable {
    case off
    /// Route, status, sizes and times: no body, query, header, name or key.
    case metadata
    /// Heads and bodies as well. Credentials are masked where they are shown.
    case full

    /// Whether the mode is ``full``. Faster than `==`, which compares raw strings.
    package var isFull: Bool {
        switch self {
        case .full: true
        case .off, .metadata: false
        }
    }
}

/// Mode and limits of the journals of a server.
package struct JournalSettings: Hashable, Sendable {
    package var mode: JournalMode
    /// Most entries of a journal; the oldest one goes first.
    package var entries = 10_000
    /// Most bytes of a journal.
    package var bytes = 16_000_000

    /// Most bytes that are kept of one body or frame.
    package static let bodyLimit = 64 << 10
    /// Most frames that are kept of one socket.
    package static let frameLimit = 10_000

    /// Most bytes that the frames of one socket take.
    package static let socketLimit = 4 << 20

    package init(mode: JournalMode = .off) { self.mode = mode }
}
