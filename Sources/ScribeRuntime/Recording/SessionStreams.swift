import Basics
package import Engines
package import ScribeDomain
package import ScribeStore

/// Socket of a session, which another server may ask to give way.
package protocol SessionSocket: AnyObject, Sendable {
    /// Closes the socket once all audio that was sent before is stored.
    func drainAndClose(for question: TransactionStore.StreamQuestion) async
}

/// Open sockets with audio of protocol sessions. They store their pending audio before the session ends, and before its
/// next socket begins.
package final class SessionStreams: Sendable {
    private let recordings: LiveRecordings
    private let open = LockedValue<[Transaction.Key: [LiveRecording]]>([:])
    private let sockets = LockedValue<[Transaction.Key: [any SessionSocket]]>([:])
    private let others: SharedStreams?

    /// - Parameter others: sockets of other servers; nil where no other server shares the data.
    package init(recordings: LiveRecordings, others: SharedStreams? = nil) {
        self.recordings = recordings
        self.others = others
    }

    package var isEmpty: Bool { open.withLock(\.isEmpty) && sockets.withLock(\.isEmpty) }

    /// Begins the recording of a socket, after the session's other sockets have stored their audio.
    /// - Parameter segment: The id of the stream, which its chunks are named after; nil to number them.
    /// - Throws: As ``LiveRecordings/open(_:_:segment:keepsSilence:for:)``.
    package func begin(
        _ id: TransactionID, _ options: LiveOptions, segment: String? = nil, for principal: Principal
    ) async throws -> LiveRecording {
        let key = Transaction.Key(business: principal.business, id: id)
        try? await settleOwn(key)
        try? await others?.settle(key, because: .replacement)
        let recording = try await recordings.open(id, options, segment: segment, for: principal)
        open.withLock { $0[key, default: []].append(recording) }
        try? await others?.add(key)
        return recording
    }

    /// Forgets the recording of a closed socket.
    package func end(_ recording: LiveRecording, of key: Transaction.Key) {
        open.withLock { open in
            open[key]?.removeAll { $0 === recording }
            if open[key]?.isEmpty == true { open[key] = nil }
        }
        forget(key)
    }

    /// Adds a socket, after those of other servers have given way to it.
    package func add(_ socket: any SessionSocket, to key: Transaction.Key) async {
        try? await others?.settle(key, because: .replacement)
        register(socket, for: key)
        try? await others?.add(key)
    }

    /// Adds a socket that goes on beside others of its session.
    package func register(_ socket: any SessionSocket, for key: Transaction.Key) {
        sockets.withLock { $0[key, default: []].append(socket) }
    }

    /// Forgets a closed socket.
    package func remove(_ socket: any SessionSocket, from key: Transaction.Key) {
        sockets.withLock { sockets in
            sockets[key]?.removeAll { $0 === socket }
            if sockets[key]?.isEmpty == true { sockets[key] = nil }
        }
        forget(key)
    }

    /// Tells the other servers that this one has nothing of a session open any more.
    private func forget(_ key: Transaction.Key) {
        let isLast = open.withLock { $0[key] == nil } && sockets.withLock { $0[key] == nil }
        // Not awaited: a late removal makes another server ask once more, and nothing else.
        if isLast, let others { Task { try? await others.remove(key) } }
    }

    /// Closes the sockets of a session that other servers have open.
    package func closeOthers(_ key: Transaction.Key) async { try? await others?.settle(key, because: .end) }

    /// Closes the session's sockets, of other servers too, once all that was sent before is stored.
    /// - Throws: As ``settle(_:)``.
    package func drain(_ key: Transaction.Key) async throws {
        await withTaskGroup { group in
            for socket in sockets.withLock({ $0[key] ?? [] }) {
                group.addTask { await socket.drainAndClose(for: .end) }
            }
        }
        try await settle(key)
    }

    /// Stores the pending audio of the session's sockets, of other servers too.
    /// - Throws: As ``LiveRecording/breakOff()``; the sockets then still hold their audio.
    package func settle(_ key: Transaction.Key) async throws {
        try await settleOwn(key)
        try? await others?.settle(key, because: .end)
    }

    /// Obeys another server: closes the session's sockets of this server once their audio is stored.
    /// - Throws: As ``LiveRecording/breakOff()``.
    package func answer(_ question: TransactionStore.StreamQuestion, about key: Transaction.Key) async throws {
        for socket in sockets.withLock({ $0[key] ?? [] }) { await socket.drainAndClose(for: question) }
        try await settleOwn(key)
    }

    /// Stores the pending audio of the session's sockets of this server.
    /// - Throws: As ``LiveRecording/breakOff()``; the sockets then still hold their audio.
    func settleOwn(_ key: Transaction.Key) async throws {
        for recording in open.withLock({ $0[key] ?? [] }) { try await recording.breakOff() }
    }
}
