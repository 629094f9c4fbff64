package import Basics
package import Foundation

/// State machine of a transaction (eka.md section 4): the effect of each event in each state.
extension Transaction {
    /// Time after which an uncommitted transaction counts as abandoned, in seconds.
    package static let openLifetime: TimeInterval = 2 * 60 * 60

    /// Effect of an event on a transaction.
    package enum Effect: Hashable, Sendable {
        /// No change: a repeated or late request, answered like the first.
        case none
        /// The caller must store the transaction.
        case stored
        /// The caller must store the transaction and process its committed files.
        case process
        /// The caller must store the transaction; no processing follows.
        case ended
    }

    /// Whether another init with the same id is a replay after a lost answer (eka.md 4.2).
    package func isReplayed(by other: TransactionRequest, of user: UserID) -> Bool {
        let hasOnlyBegun = userStatus == .initialized || request.transfer == .nonVaded && userStatus == .committed
        return hasOnlyBegun && archivedAt == nil && owner.user == user
            && request.audioURL == other.audioURL && request.mode == other.mode && request.transfer == other.transfer
    }

    /// Applies the client's stop. Repeatable; a late stop after commit changes nothing.
    /// - Throws: ``ScribeError/transactionCancelled``.
    package mutating func stop(_ list: ChunkList) throws(ScribeError) -> Effect {
        switch userStatus {
        case .initialized, .stopped:
            userStatus = .stopped
            // A repeated stop may come without times; known times are kept (C-20).
            stopped = ChunkList(files: list.files, times: stopped.times.merging(list.times) { _, new in new })
            return .stored
        case .committed:
            return .none
        case .cancelled:
            throw .transactionCancelled
        }
    }

    /// Applies the client's commit of uploaded files. A commit without a stop before includes the stop.
    ///
    /// A repeated commit of the same files, or some of them, changes nothing. A commit with new names processes the
    /// union of all files again. So does any commit after a system failure, after a failed note, or after other audio
    /// arrived under processed names (eka.md 4.1).
    /// - Parameter mayChangeResults: whether processing the known files again may yield more: their bytes changed, or
    ///   processing failed for another reason than the audio.
    /// - Throws: ``ScribeError/transactionCancelled``.
    package mutating func commit(
        _ list: ChunkList, mayChangeResults: Bool, at now: Date
    ) throws(ScribeError) -> Effect {
        switch userStatus {
        case .initialized, .stopped:
            committedFiles = list.files.removingDuplicates()
        case .committed:
            let union = (committedFiles + list.files).removingDuplicates()
            let isWorthwhile =
                switch processingStatus {
                case .inProgress, .cancelled: false
                case .systemFailure: true
                case .success, .requestFailure: mayChangeResults
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

    /// Applies a client's cancellation, or its changes to the init data (eka.md 2.7).
    ///
    /// An ended transaction does not change: a repeated cancellation gets the first
    /// answer, and its reason is not stored.
    package mutating func apply(_ patch: TransactionPatch, at now: Date) -> Effect {
        let before = request
        let ends = patch.isCancellation && processingStatus == .inProgress
        var patch = patch
        // Notes that are written or in progress keep their templates.
        if !userStatus.isOpen { patch.templates = nil }
        if patch.isCancellation, !ends { patch.processingError = nil }
        patch.update(&request)
        guard ends else { return request == before ? .none : .stored }
        userStatus = .cancelled
        processingStatus = .cancelled
        processedAt = now
        return .ended
    }

    /// Replaces the family's own data of the transaction.
    package mutating func setTerms(_ terms: JSONValue) -> Effect {
        guard request.terms != terms else { return .none }
        request.terms = terms
        return .stored
    }

    /// Applies the client's deletion. Repeatable.
    /// - Throws: ``ScribeError/invalidState(_:)`` for any user but the one who started the transaction.
    package mutating func archive(by user: UserID, at now: Date) throws(ScribeError) -> Effect {
        guard owner.user == user else {
            throw .invalidState("Only the user who started a transaction can delete it")
        }
        guard archivedAt == nil else { return .none }
        archivedAt = now
        return .ended
    }

    /// Commits a `non-vaded` transaction at init: its files were uploaded before, without stop or commit (eka.md 2.1).
    package mutating func commitAtInit() {
        guard request.transfer == .nonVaded, request.intake == .listed, userStatus == .initialized else { return }
        committedFiles = request.announcedFiles.removingDuplicates()
        userStatus = .committed
        committedAt = createdAt
    }

    /// Whether the transaction takes all files in its folder, because init listed none (eka.md 2.1).
    package var waitsForAnyFile: Bool {
        request.transfer == .nonVaded && request.intake == .listed && userStatus == .committed && committedFiles.isEmpty
    }

    /// Commits the files found in the folder, without descriptions and archived recordings (C-25, C-68).
    package mutating func find(_ names: [String]) {
        guard waitsForAnyFile else { return }
        committedFiles = names.filter { !$0.hasSlash && !$0.hasSuffix("_") && !$0.hasSuffix(".json") }.inOrderOfNumbers
    }

    /// Commits a transcript in place of audio (eka.md 2.6).
    /// - Throws: ``ScribeError/invalidState(_:)`` after stop or commit.
    package mutating func commitTranscript(at now: Date) throws(ScribeError) -> Effect {
        guard userStatus == .initialized else {
            throw .invalidState("A transcript can only be supplied to a transaction that was just initialized")
        }
        userStatus = .committed
        committedAt = now
        return .process
    }

    /// Checks that the client may request results in a further template.
    /// - Throws: ``ScribeError/transactionCancelled``, ``ScribeError/invalidState(_:)`` before commit.
    package func requireConvertible() throws(ScribeError) {
        switch userStatus {
        case .committed: break
        case .cancelled: throw .transactionCancelled
        case .initialized, .stopped: throw .invalidState("The transaction was not committed yet")
        }
    }

    /// Applies the end of processing. Ignored if the transaction was cancelled meanwhile.
    /// - Parameter quality: audio quality from 0 to 1; nil if not measured.
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

    /// Whether the transaction stayed uncommitted for longer than ``openLifetime`` (eka.md 4.2).
    package func isAbandoned(at now: Date) -> Bool {
        userStatus.isOpen && now.timeIntervalSince(createdAt) > Self.openLifetime
    }

    /// Checks that results may still arrive.
    /// - Throws: ``ScribeError/transactionCancelled``; ``ScribeError/transactionNeverCommitted`` if abandoned.
    package func requireAwaited(at now: Date) throws(ScribeError) {
        if userStatus == .cancelled { throw .transactionCancelled }
        if isAbandoned(at: now) { throw .transactionNeverCommitted }
    }

    /// Committed files in spoken order: numbered chunks by number, whole files and others as listed.
    ///
    /// The full recording that clients archive beside the chunks is left out, even if listed (C-25).
    package var orderedFiles: [String] {
        switch request.intake {
        case .arrived: return SessionFiles.audio(among: committedFiles)
        case .listed, .segments: break
        }
        let files = committedFiles.filter { !$0.hasSuffix("_") }
            .filter { request.transfer != .vaded || !$0.hasPrefix("full_audio.") }
        return request.transfer.isChunked ? files.inOrderOfNumbers : files
    }
}

extension [String] {
    /// Names of files in the order of their numbers; as they are if one has none.
    fileprivate var inOrderOfNumbers: [String] {
        let numbered = compactMap { name in chunkOrdinal(ofFile: name).map { ($0, name) } }
        return numbered.count == count ? numbered.sorted { $0.0 < $1.0 }.map(\.1) : self
    }
}

extension Array where Element: Hashable {
    /// Elements in order, without duplicates.
    package func removingDuplicates() -> [Element] {
        guard count > 1 else { return self }
        var seen = Set<Element>()
        return filter { seen.insert($0).inserted }
    }
}
