package import Foundation

/// Rules for further audio: whether a recording still takes audio, over any API, and how it ends.
extension Transaction {
    /// Checks that a transaction still takes audio.
    /// - Throws: ``ScribeError/invalidState(_:)`` after stop or commit.
    package static func requireOpen(_ status: UserStatus) throws(ScribeError) {
        guard status.isOpen else { throw .invalidState("The transaction takes no more audio") }
    }

    /// Checks that a recording whose intake is ``AudioIntake/arrived`` still takes audio.
    ///
    /// The error says whether results exist.
    /// - Parameters:
    ///   - begun: creation time of the recording.
    ///   - lastAudio: time of its last audio; nil without any.
    ///   - lifetime: time that the recording may stay open; nil for no limit.
    /// - Throws: ``ScribeError/sessionEnded``, ``ScribeError/sessionCompleted``, ``ScribeError/sessionExpired``.
    package static func requireOpenArrival(
        _ status: UserStatus, _ processing: ProcessingStatus, begun: Date, lastAudio: Date?, at now: Date,
        lifetime: RecordingLifetime?
    ) throws(ScribeError) {
        guard status.isOpen else {
            throw [.inProgress, .cancelled].contains(processing) ? .sessionEnded : .sessionCompleted
        }
        if let lifetime, now >= lifetime.end(begun: begun, lastAudio: lastAudio) { throw .sessionExpired }
    }

    /// Checks that a recording whose intake is ``AudioIntake/segments`` still takes audio and metadata.
    /// - Parameter lifetime: time that the recording may stay open; nil for no limit.
    /// - Throws: ``ScribeError/transactionCancelled``, ``ScribeError/sessionEnded``, ``ScribeError/sessionExpired``.
    package func requireOpenSegments(at now: Date, lifetime: RecordingLifetime?) throws(ScribeError) {
        switch userStatus {
        case .initialized, .stopped: try requireTime(at: now, lifetime: lifetime)
        case .committed: throw .sessionEnded
        case .cancelled: throw .transactionCancelled
        }
    }

    /// Whether a recording outlived its lifetime without being ended.
    /// - Parameter lifetime: time that the recording may stay open; nil for no limit.
    package func isExpired(at now: Date, lifetime: RecordingLifetime?) -> Bool {
        guard let lifetime else { return false }
        return userStatus.isOpen && now >= lifetime.end(begun: createdAt, lastAudio: lastAudioAt)
    }

    /// Checks that a recording has not expired. An expired recording never changes, through any API (medscribe.md 3).
    /// - Throws: ``ScribeError/sessionExpired``.
    package func requireTime(at now: Date, lifetime: RecordingLifetime?) throws(ScribeError) {
        if isExpired(at: now, lifetime: lifetime) { throw .sessionExpired }
    }

    /// Stops and commits a recording whose intake is ``AudioIntake/arrived``.
    /// - Parameter files: names of the files that have arrived.
    /// - Throws: ``ScribeError/sessionEnded``, ``ScribeError/sessionExpired``.
    package mutating func end(
        _ files: [String], at now: Date, lifetime: RecordingLifetime?
    ) throws(ScribeError) -> Effect {
        switch userStatus {
        case .committed, .cancelled: throw .sessionEnded
        case .initialized, .stopped:
            try requireTime(at: now, lifetime: lifetime)
            return try commit(ChunkList(files: files), mayChangeResults: false, at: now)
        }
    }
}
