package import Engines
package import ScribeDomain

/// Open sockets with audio of protocol sessions. They store their pending audio before the session ends, and before its
/// next socket begins.
package final class SessionStreams: Sendable {
    private let recordings: LiveRecordings
    private let open = LockedValue<[Transaction.Key: [LiveRecording]]>([:])
    private let others: SharedStreams?

    /// - Parameter others: sockets of other servers; nil where no other server shares the data.
    package init(recordings: LiveRecordings, others: SharedStreams? = nil) {
        self.recordings = recordings
        self.others = others
    }

    package var isEmpty: Bool { open.withLock(\.isEmpty) }

    /// Begins the recording of a socket, after the session's other sockets have stored their audio.
    /// - Parameter segment: The id of the stream, which its chunks are named after; nil to number them.
    /// - Throws: As ``LiveRecordings/open(_:_:segment:keepsSilence:for:)``.
    package func begin(
        _ id: TransactionID, _ options: LiveOptions, segment: String? = nil, for principal: Principal
    ) async throws -> LiveRecording {
        let key = Transaction.Key(business: principal.business, id: id)
        try? await settle(key)
        let recording = try await recordings.open(id, options, segment: segment, for: principal)
        open.withLock { $0[key, default: []].append(recording) }
        try? await others?.add(key)
        return recording
    }

    /// Forgets the recording of a closed socket.
    package func end(_ recording: LiveRecording, of key: Transaction.Key) {
        let isLast = open.withLock { open in
            open[key]?.removeAll { $0 === recording }
            guard open[key]?.isEmpty == true else { return false }
            open[key] = nil
            return true
        }
        // Not awaited: a late removal makes another server ask once more, and nothing else.
        if isLast, let others { Task { try? await others.remove(key) } }
    }

    /// Stores the pending audio of the session's sockets, of other servers too.
    /// - Throws: As ``LiveRecording/breakOff()``; the sockets then still hold their audio.
    package func settle(_ key: Transaction.Key) async throws {
        try await settleOwn(key)
        try? await others?.settle(key)
    }

    /// Stores the pending audio of the session's sockets of this server.
    /// - Throws: As ``LiveRecording/breakOff()``; the sockets then still hold their audio.
    package func settleOwn(_ key: Transaction.Key) async throws {
        for recording in open.withLock({ $0[key] ?? [] }) { try await recording.breakOff() }
    }
}
