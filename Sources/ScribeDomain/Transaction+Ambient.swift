package import Foundation

/// What can be done with an ambient session, and when (suki.md 5).
extension Transaction {
    /// How long after its beginning an ambient session may still be ended: as long as recordings are kept (suki.md 8).
    package static let ambientLifetime: TimeInterval = 7 * 86_400

    /// Its terms; a transaction that is no ambient session is none that its API knows.
    /// - Throws: ``ScribeError/transactionNotFound``.
    package func requireAmbient(of user: UserID) throws(ScribeError) -> AmbientTerms {
        guard let terms = request.ambient, owner.user == user else { throw .transactionNotFound }
        return terms
    }

    /// It takes audio and context now.
    /// - Parameter lifetime: how long it may be open, in seconds.
    /// - Throws: ``ScribeError/transactionCancelled``, ``ScribeError/sessionEnded``, ``ScribeError/sessionExpired``.
    package func requireOpenAmbient(at now: Date, lifetime: TimeInterval) throws(ScribeError) {
        switch userStatus {
        case .initialized, .stopped:
            if isExpired(at: now, lifetime: lifetime) { throw .sessionExpired }
        case .committed: throw .sessionEnded
        case .cancelled: throw .transactionCancelled
        }
    }

    /// Its recording is that far. It never goes back.
    package mutating func advance(to stage: AmbientTerms.Stage) -> Effect {
        guard let terms = request.ambient, userStatus.isOpen, terms.stage < stage else { return .none }
        request.ambient?.stage = stage
        return .stored
    }

    package mutating func setContext(_ context: AmbientContext) -> Effect {
        guard let terms = request.ambient, terms.context != context else { return .none }
        request.ambient?.context = context
        return .stored
    }

    /// Chooses which sections are told in sentences.
    package mutating func tellInSentences(_ sections: [String]) -> Effect {
        guard let terms = request.ambient, terms.narrativeSections != sections else { return .none }
        request.ambient?.narrativeSections = sections
        return .stored
    }

    /// Gives it up: what was recorded is made nothing of. Repeatable.
    /// - Throws: ``ScribeError/sessionEnded`` once something was made of it.
    package mutating func cancelAmbient(at now: Date) throws(ScribeError) -> Effect {
        if userStatus == .cancelled { return .none }
        guard processingStatus == .inProgress else { throw .sessionEnded }
        var patch = TransactionPatch()
        patch.isCancellation = true
        return apply(patch, at: now)
    }
}
