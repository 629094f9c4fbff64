package import Engines
package import ScribeDomain

/// The sockets over which sessions' audio comes, so that what one still holds is stored before anybody counts on it: the
/// session's end, and the next socket.
package final class SessionStreams: Sendable {
    private let recordings: LiveRecordings
    private let open = LockedValue<[Transaction.Key: [LiveRecording]]>([:])

    package init(recordings: LiveRecordings) { self.recordings = recordings }

    /// Begins a socket's recording, and hands it over to its end. What is left then is stored, however it comes.
    /// - Parameter segment: what its chunks are named after, where streams are told apart.
    /// - Throws: as ``LiveRecordings/open(_:_:segment:keepsSilence:for:)``.
    package func begin(
        _ id: TransactionID, _ options: LiveOptions, segment: String? = nil, for principal: Principal
    ) async throws -> LiveRecording {
        let key = Transaction.Key(business: principal.business, id: id)
        try? await settle(key)
        let recording = try await recordings.open(id, options, segment: segment, for: principal)
        open.withLock { $0[key, default: []].append(recording) }
        return recording
    }

    /// The socket is closed.
    package func end(_ recording: LiveRecording, of key: Transaction.Key) {
        open.withLock { open in
            open[key]?.removeAll { $0 === recording }
            if open[key]?.isEmpty == true { open[key] = nil }
        }
    }

    /// Stores what the session's sockets hold.
    /// - Throws: as ``LiveRecording/breakOff()``; then it is still held.
    package func settle(_ key: Transaction.Key) async throws {
        for recording in open.withLock({ $0[key] ?? [] }) { try await recording.breakOff() }
    }
}
