package import Foundation

/// What a session of the session protocol was started with, beside what any transaction is (medscribe.md 2.1).
package struct SessionTerms: Hashable, Sendable {
    /// How its audio comes.
    package enum UploadType: String, Hashable, Sendable, CaseIterable {
        /// One complete recording.
        case single
        case chunked
        /// Over a socket.
        case stream

        /// As its clients call the way in which they talk.
        package var protocolName: String { self == .stream ? "websocket" : "http" }
    }

    package let uploadType: UploadType
    /// Their ids, as they were asked for.
    package var templates: [String]

    package init(uploadType: UploadType, templates: [String]) {
        self.uploadType = uploadType
        self.templates = templates
    }
}

extension AudioLocation {
    /// Where a session's audio goes: its client names no place.
    package static func ofSession(_ id: TransactionID) -> AudioLocation {
        AudioLocation(bucket: batchBucket, folder: "sessions/\(id)")
    }

    package var url: String { "s3://\(bucket)/\(folder)" }
}

extension Transaction {
    /// Whether a session was never ended, and its time is over.
    /// - Parameter lifetime: how long it may be open, in seconds.
    package func isExpired(at now: Date, lifetime: TimeInterval) -> Bool {
        userStatus.isOpen && now.timeIntervalSince(createdAt) >= lifetime
    }

    /// A session whose time is over stays as it is, by whichever API somebody asks (medscribe.md section 3).
    /// - Throws: ``ScribeError/sessionExpired``.
    package func requireTime(at now: Date, lifetime: TimeInterval) throws(ScribeError) {
        if request.session != nil, isExpired(at: now, lifetime: lifetime) { throw .sessionExpired }
    }

    /// Ends a session: what has come of its audio is to be processed.
    /// - Parameter files: the names of what has come.
    /// - Throws: ``ScribeError/sessionEnded``, ``ScribeError/sessionExpired``.
    package mutating func end(
        _ files: [String], at now: Date, lifetime: TimeInterval
    ) throws(ScribeError) -> Effect {
        switch userStatus {
        case .committed, .cancelled: throw .sessionEnded
        case .initialized, .stopped:
            guard !isExpired(at: now, lifetime: lifetime) else { throw .sessionExpired }
            return try commit(ChunkList(files: files), hasMoreToGive: false, at: now)
        }
    }
}
