import Basics
import Foundation
package import ScribeDomain

extension RecordingKind {
    package static let ambient = RecordingKind("ambient")
}

/// State changes of an ambient session (suki.md 5).
extension Transaction {
    /// Terms of the ambient session; nil for another kind of transaction.
    var ambientTerms: AmbientTerms? {
        request.kind == .ambient ? AmbientTerms(stored: request.terms) : nil
    }

    /// Requires that the transaction is an ambient session of this user.
    /// - Throws: ``ScribeError/transactionNotFound``.
    func requireAmbient(of user: UserID) throws(ScribeError) -> AmbientTerms {
        guard let terms = ambientTerms, owner.user == user else { throw .transactionNotFound }
        return terms
    }

    /// Status of the ambient session; nil for another kind of transaction.
    /// - Parameter lifetime: Time that a session may be open.
    func ambientStatus(at now: Date, lifetime: RecordingLifetime?) -> AmbientStatus? {
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
        // The session had too little speech.
        case (.committed, .requestFailure): return .skipped
        case (.committed, .systemFailure): return .failed
        }
    }

    /// Advances the stage of the ambient session's recording to ready or running, never backwards.
    mutating func advance(to stage: AmbientTerms.Stage) -> Effect {
        guard var terms = ambientTerms, userStatus.isOpen, terms.stage != .running, terms.stage != stage else {
            return .none
        }
        terms.stage = stage
        return setTerms(terms.stored)
    }

    mutating func setContext(_ context: AmbientContext) -> Effect {
        guard var terms = ambientTerms else { return .none }
        terms.context = context
        return setTerms(terms.stored)
    }

    /// Sets the sections that are written in sentences.
    mutating func setNarrativeSections(_ sections: [String]) {
        guard var terms = ambientTerms else { return }
        terms.narrativeSections = sections
        _ = setTerms(terms.stored)
    }

    /// Ends the ambient session and commits its audio segments. A session shorter than `minimumDuration` is committed
    /// without audio and gets no note.
    /// - Parameters:
    ///   - recorded: The segments, in the order of their start times.
    ///   - narrative: Sections to write in sentences.
    ///   - minimumDuration: Least audio of all segments together, in seconds.
    /// - Throws: ``ScribeError/transactionCancelled``.
    mutating func endAmbient(
        _ recorded: [AudioSegment], inSentences narrative: [String], minimumDuration: TimeInterval, at now: Date
    ) throws(ScribeError) -> Effect {
        if userStatus == .committed { return .none }
        setNarrativeSections(narrative)
        let length = recorded.total(\.seconds)
        let list = length > 0 && length >= minimumDuration ? recorded.chunks : ChunkList(files: [])
        return try commit(list, mayChangeResults: false, at: now)
    }

    /// Cancels the ambient session: its audio is not processed. Repeatable.
    /// - Throws: ``ScribeError/sessionEnded`` once the session is processed; ``ScribeError/sessionExpired``.
    mutating func cancelAmbient(at now: Date, lifetime: RecordingLifetime?) throws(ScribeError) -> Effect {
        if userStatus == .cancelled { return .none }
        try requireTime(at: now, lifetime: lifetime)
        guard processingStatus == .inProgress else { throw .sessionEnded }
        var patch = TransactionPatch()
        patch.isCancellation = true
        return apply(patch, at: now)
    }
}
