package import Foundation

/// The lifecycle of eka.md section 4: what each event does in each state, and what is then to be done.
extension Transaction {
    /// How long a transaction may stay uncommitted before its status says so.
    package static let openLifetime: TimeInterval = 2 * 60 * 60

    /// What an event changed.
    package enum Effect: Hashable, Sendable {
        /// Nothing: a repeated or late request, answered like the first.
        case none
        /// The transaction is to be stored.
        case stored
        /// The transaction is to be stored and processed from its committed files.
        case process
        /// The transaction is to be stored, and nothing more is to be done for it.
        case ended
    }

    /// Whether a further init with the same id is the same request again, sent because the answer was lost (4.2).
    package func isReplayed(by other: TransactionRequest, of user: UserID) -> Bool {
        let hasOnlyBegun = userStatus == .initialized || request.transfer == .nonVaded && userStatus == .committed
        return hasOnlyBegun && archivedAt == nil && owner.user == user
            && request.audioURL == other.audioURL && request.mode == other.mode && request.transfer == other.transfer
    }

    /// The client stopped recording. Repeatable; a late stop after commit changes nothing.
    /// - Throws: ``ScribeError/transactionCancelled``.
    package mutating func stop(_ list: ChunkList) throws(ScribeError) -> Effect {
        switch userStatus {
        case .initialized, .stopped:
            userStatus = .stopped
            // A repeated stop may come without times; those already known are kept (C-20).
            stopped = ChunkList(files: list.files, times: stopped.times.merging(list.times) { _, new in new })
            return .stored
        case .committed:
            return .none
        case .cancelled:
            throw .transactionCancelled
        }
    }

    /// The client committed the files it uploaded; a commit without a stop before it is both.
    ///
    /// Repeated with the same list, or part of it, nothing happens. A list with new names runs everything again on
    /// the union, and so does any commit after a system failure, after a note that failed, or once other audio has
    /// arrived under the names that were processed (eka.md 10.9).
    /// - Parameter hasMoreToGive: whether processing the files that were listed before once more may give more: other
    ///   bytes are there, or something failed for no fault of theirs.
    /// - Throws: ``ScribeError/transactionCancelled``.
    package mutating func commit(_ list: ChunkList, hasMoreToGive: Bool, at now: Date) throws(ScribeError) -> Effect {
        switch userStatus {
        case .initialized, .stopped:
            committedFiles = list.files.removingDuplicates()
        case .committed:
            let union = (committedFiles + list.files).removingDuplicates()
            let isWorthwhile =
                switch processingStatus {
                case .inProgress, .cancelled: false
                case .systemFailure: true
                case .success, .requestFailure: hasMoreToGive
                }
            guard union.count > committedFiles.count || isWorthwhile else { return .none }
            committedFiles = union
        case .cancelled:
            throw .transactionCancelled
        }
        userStatus = .committed
        processingStatus = .inProgress
        committedAt = now
        processedAt = nil
        stopped.times.merge(list.times) { _, new in new }
        return .process
    }

    /// The client gives a transaction up, or changes what it said of it at init (eka.md 2.7).
    ///
    /// What has ended stays as it ended: cancelling it is answered like the first time and changes nothing, nor does it
    /// keep why.
    package mutating func apply(_ patch: TransactionPatch, at now: Date) -> Effect {
        let before = request
        let ends = patch.isCancellation && processingStatus == .inProgress
        var patch = patch
        // What was written, or is being written, keeps its templates.
        if !userStatus.isOpen { patch.templates = nil }
        if patch.isCancellation, !ends { patch.processingError = nil }
        patch.update(&request)
        guard ends else { return request == before ? .none : .stored }
        userStatus = .cancelled
        processingStatus = .cancelled
        processedAt = now
        return .ended
    }

    /// Changes what its family keeps of it.
    package mutating func setTerms(_ terms: JSONValue) -> Effect {
        guard request.terms != terms else { return .none }
        request.terms = terms
        return .stored
    }

    /// The client deletes the transaction. Repeatable.
    /// - Throws: ``ScribeError/invalidState(_:)`` for anyone but the user who started it.
    package mutating func archive(by user: UserID, at now: Date) throws(ScribeError) -> Effect {
        guard owner.user == user else {
            throw .invalidState("Only the user who started a transaction can delete it")
        }
        guard archivedAt == nil else { return .none }
        archivedAt = now
        return .ended
    }

    /// A `non-vaded` transaction, whose files were uploaded before, needs neither stop nor commit (eka.md 2.1).
    package mutating func commitAtInit() {
        guard request.transfer == .nonVaded, request.intake == .listed, userStatus == .initialized else { return }
        committedFiles = request.announcedFiles.removingDuplicates()
        userStatus = .committed
        committedAt = createdAt
    }

    /// Whether it was started without a word of which files there are: those that are in its folder then (2.1).
    package var waitsForAnyFile: Bool {
        request.transfer == .nonVaded && request.intake == .listed && userStatus == .committed && committedFiles.isEmpty
    }

    /// Takes the files that are in its folder. What describes or archives a recording is none of it (C-25, C-68).
    package mutating func find(_ names: [String]) {
        guard waitsForAnyFile else { return }
        committedFiles = names.filter { !$0.hasSlash && !$0.hasSuffix("_") && !$0.hasSuffix(".json") }
    }

    /// A text takes the place of the audio (eka.md 2.6).
    /// - Throws: ``ScribeError/invalidState(_:)`` once recording has ended.
    package mutating func commitTranscript(at now: Date) throws(ScribeError) -> Effect {
        guard userStatus == .initialized else {
            throw .invalidState("A transcript can only be supplied to a transaction that was just initialized")
        }
        userStatus = .committed
        committedAt = now
        return .process
    }

    /// Whether results may be asked for in a further template.
    /// - Throws: ``ScribeError/transactionCancelled``, ``ScribeError/invalidState(_:)`` before commit.
    package func requireConvertible() throws(ScribeError) {
        switch userStatus {
        case .committed: break
        case .cancelled: throw .transactionCancelled
        case .initialized, .stopped: throw .invalidState("The transaction was not committed yet")
        }
    }

    /// Processing ended. Ignored when the transaction was cancelled meanwhile.
    /// - Parameter quality: of the audio, nil where it was not measured.
    package mutating func finish(_ outcome: ProcessingStatus, quality: Double? = nil, at now: Date) -> Effect {
        switch userStatus {
        case .committed:
            if let quality { audioQuality = quality }
            processingStatus = outcome
            processedAt = now
            return .stored
        case .initialized, .stopped, .cancelled:
            return .none
        }
    }

    /// Whether the transaction was left uncommitted for longer than ``openLifetime`` (eka.md 10.7).
    package func isAbandoned(at now: Date) -> Bool {
        userStatus.isOpen && now.timeIntervalSince(createdAt) > Self.openLifetime
    }

    /// Checks that results may still come.
    /// - Throws: ``ScribeError/transactionCancelled``; ``ScribeError/transactionNeverCommitted`` when it was abandoned.
    package func requireAwaited(at now: Date) throws(ScribeError) {
        if userStatus == .cancelled { throw .transactionCancelled }
        if isAbandoned(at: now) { throw .transactionNeverCommitted }
    }

    /// The committed files in the order in which they were spoken: numbered chunks by number, others as listed.
    ///
    /// The full recording that clients archive beside the chunks is none of them, even when it is listed (C-25).
    package var orderedFiles: [String] {
        switch request.intake {
        case .arrived: return SessionFiles.audio(among: committedFiles)
        case .listed, .segments: break
        }
        let files = committedFiles.filter { !$0.hasSuffix("_") }
            .filter { request.transfer != .vaded || !$0.hasPrefix("full_audio.") }
        let numbered = files.compactMap { name in chunkOrdinal(ofFile: name).map { ($0, name) } }
        guard numbered.count == files.count else { return files }
        return numbered.sorted { $0.0 < $1.0 }.map(\.1)
    }
}

extension Array where Element: Hashable {
    /// The elements in order, each once.
    package func removingDuplicates() -> [Element] {
        guard count > 1 else { return self }
        var seen = Set<Element>()
        return filter { seen.insert($0).inserted }
    }
}
