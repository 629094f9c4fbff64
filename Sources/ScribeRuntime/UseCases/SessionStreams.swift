package import Engines
package import ScribeDomain

/// Open sockets with audio of protocol sessions. They store their pending audio before the session ends, and before its
/// next socket begins.
package final class SessionStreams: Sendable {
    private let recordings: LiveRecordings
    private let open = LockedValue<[Transaction.Key: [LiveRecording]]>([:])

    package init(recordings: LiveRecordings) { self.recordings = recordings }

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
        return recording
    }

    /// Forgets the recording of a closed socket.
    package func end(_ recording: LiveRecording, of key: Transaction.Key) {
        open.withLock { open in
            open[key]?.removeAll { $0 === recording }
            if open[key]?.isEmpty == true { open[key] = nil }
        }
    }

    /// Stores the pending audio of the session's sockets.
    /// - Throws: As ``LiveRecording/breakOff()``; the sockets then still hold their audio.
    package func settle(_ key: Transaction.Key) async throws {
        for recording in open.withLock({ $0[key] ?? [] }) { try await recording.breakOff() }
    }
}
