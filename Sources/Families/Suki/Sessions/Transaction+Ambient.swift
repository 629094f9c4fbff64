import Foundation
import ScribeDomain

extension RecordingKind {
    static let ambient = RecordingKind("ambient")
}

/// What can be done with an ambient session, and when (suki.md 5).
extension Transaction {
    /// nil for a transaction that is no ambient session.
    var ambientTerms: AmbientTerms? {
        request.kind == .ambient ? AmbientTerms(stored: request.terms) : nil
    }

    /// Its terms; a transaction that is no ambient session is none that its API knows.
    /// - Throws: ``ScribeError/transactionNotFound``.
    func requireAmbient(of user: UserID) throws(ScribeError) -> AmbientTerms {
        guard let terms = ambientTerms, owner.user == user else { throw .transactionNotFound }
        return terms
    }

    /// nil for a transaction that is no ambient session.
    /// - Parameter lifetime: how long one may be open, in seconds.
    func ambientStatus(at now: Date, lifetime: TimeInterval?) -> AmbientStatus? {
        guard let terms = ambientTerms else { return nil }
        switch (userStatus, processingStatus) {
        case (.cancelled, _), (_, .cancelled): return .aborted
        case (.initialized, _), (.stopped, _):
            if isExpired(at: now, lifetime: lifetime) { return .failed }
            return switch terms.stage {
            case .created: .created
            case .ready: .ready
            case .running: .running
            }
        case (.committed, .inProgress): return .running
        case (.committed, .success): return .completed
        // There was too little to be heard.
        case (.committed, .requestFailure): return .skipped
        case (.committed, .systemFailure): return .failed
        }
    }

    /// Its recording is that far. It never goes back.
    mutating func advance(to stage: AmbientTerms.Stage) -> Effect {
        guard var terms = ambientTerms, userStatus.isOpen, terms.stage < stage else { return .none }
        terms.stage = stage
        return setTerms(terms.stored)
    }

    mutating func setContext(_ context: AmbientContext) -> Effect {
        guard var terms = ambientTerms else { return .none }
        terms.context = context
        return setTerms(terms.stored)
    }

    /// Chooses which sections are told in sentences.
    mutating func tellInSentences(_ sections: [String]) {
        guard var terms = ambientTerms else { return }
        terms.narrativeSections = sections
        _ = setTerms(terms.stored)
    }

    /// Ends it: the note is made of the stretches that have come.
    /// - Parameters:
    ///   - recorded: the stretches, in the order in which they were spoken.
    ///   - narrative: the sections that are to be told in sentences.
    ///   - shortest: what is shorter is as if nobody had spoken, in seconds.
    /// - Throws: ``ScribeError/transactionCancelled``.
    mutating func endAmbient(
        _ recorded: [AudioSegment], inSentences narrative: [String], shortest: TimeInterval, at now: Date
    ) throws(ScribeError) -> Effect {
        if userStatus == .committed { return .none }
        tellInSentences(narrative)
        let length = recorded.reduce(0) { $0 + $1.seconds }
        let list = length > 0 && length >= shortest ? recorded.chunks : ChunkList(files: [])
        return try commit(list, hasMoreToGive: false, at: now)
    }

    /// Gives it up: what was recorded is made nothing of. Repeatable.
    /// - Throws: ``ScribeError/sessionEnded`` once something was made of it.
    mutating func cancelAmbient(at now: Date) throws(ScribeError) -> Effect {
        if userStatus == .cancelled { return .none }
        guard processingStatus == .inProgress else { throw .sessionEnded }
        var patch = TransactionPatch()
        patch.isCancellation = true
        return apply(patch, at: now)
    }
}
