package import Foundation

/// Whether a recording still takes audio, for every door by which audio comes, and how it ends.
extension Transaction {
    /// - Throws: ``ScribeError/invalidState(_:)`` once recording has ended.
    package static func requireOpen(_ status: UserStatus) throws(ScribeError) {
        guard status.isOpen else { throw .invalidState("The transaction takes no more audio") }
    }

    /// The rule of audio that has to arrive in time (``AudioIntake/arrived``): a refusal says whether results exist.
    /// - Parameters:
    ///   - begun: when the recording was created.
    ///   - lifetime: how long it may be open, in seconds; nil for ever.
    /// - Throws: ``ScribeError/sessionEnded``, ``ScribeError/sessionCompleted``, ``ScribeError/sessionExpired``.
    package static func requireOpenArrival(
        _ status: UserStatus, _ processing: ProcessingStatus, begun: Date, at now: Date, lifetime: TimeInterval?
    ) throws(ScribeError) {
        guard status.isOpen else {
            throw [.inProgress, .cancelled].contains(processing) ? .sessionEnded : .sessionCompleted
        }
        if let lifetime, now.timeIntervalSince(begun) >= lifetime { throw .sessionExpired }
    }

    /// The rule of stretches (``AudioIntake/segments``): it takes audio and what is told of it now.
    /// - Parameter lifetime: how long it may be open, in seconds; nil for ever.
    /// - Throws: ``ScribeError/transactionCancelled``, ``ScribeError/sessionEnded``, ``ScribeError/sessionExpired``.
    package func requireOpenSegments(at now: Date, lifetime: TimeInterval?) throws(ScribeError) {
        switch userStatus {
        case .initialized, .stopped: try requireTime(at: now, lifetime: lifetime)
        case .committed: throw .sessionEnded
        case .cancelled: throw .transactionCancelled
        }
    }

    /// Whether a recording was never ended, and its time is over.
    /// - Parameter lifetime: how long it may be open, in seconds; nil for ever.
    package func isExpired(at now: Date, lifetime: TimeInterval?) -> Bool {
        guard let lifetime else { return false }
        return userStatus.isOpen && now.timeIntervalSince(createdAt) >= lifetime
    }

    /// A recording whose time is over stays as it is, by whichever API somebody asks (medscribe.md section 3).
    /// - Throws: ``ScribeError/sessionExpired``.
    package func requireTime(at now: Date, lifetime: TimeInterval?) throws(ScribeError) {
        if isExpired(at: now, lifetime: lifetime) { throw .sessionExpired }
    }

    /// Ends a recording whose audio is what has arrived.
    /// - Parameter files: the names of what has arrived.
    /// - Throws: ``ScribeError/sessionEnded``, ``ScribeError/sessionExpired``.
    package mutating func end(
        _ files: [String], at now: Date, lifetime: TimeInterval?
    ) throws(ScribeError) -> Effect {
        switch userStatus {
        case .committed, .cancelled: throw .sessionEnded
        case .initialized, .stopped:
            try requireTime(at: now, lifetime: lifetime)
            return try commit(ChunkList(files: files), hasMoreToGive: false, at: now)
        }
    }
}
