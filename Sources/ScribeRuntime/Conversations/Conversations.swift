import Basics
package import Engines
import Foundation
package import ScribeDomain
package import ScribeStore

/// Use cases of devices' conversations. Each conversation is a transaction too, so that history, templates and
/// conversion work with it.
package struct Conversations: Sendable {
    /// Properties of a new conversation.
    package struct NewConversation: Hashable, Sendable {
        package var source: String
        package var language: String?
        /// The silence after which the conversation ends, in seconds.
        package var timeout: Int
        /// The wanted id, which is used if it is free; nil for a fresh id.
        package var id: String?

        package init(source: String, language: String?, timeout: Int, id: String? = nil) {
            self.id = id
            self.source = source
            self.language = language
            self.timeout = timeout
        }
    }

    /// Result of adding segments.
    package struct AddedSegments: Sendable {
        package let conversation: Conversation
        package let segments: [ConversationSegment]
        /// Whether the segments make the conversation more urgent than before.
        package let isMoreUrgent: Bool
        /// The ids of the urgent segments.
        package let urgent: [String]
    }

    private let store: Store
    private let transactions: Transactions
    private let facts: ClinicalFacts
    private let bucket: String
    private let identifiers: WorldIdentifiers
    private let clock: WorldClock
    /// The ids of conversations that this process works on now. All copies of this value share them. Other processes
    /// are kept away by a lease.
    private let processingIDs = LockedValue<Set<String>>([])

    /// - Parameter bucket: The S3 bucket for audio of conversations.
    package init(
        store: Store, transactions: Transactions, facts: ClinicalFacts, bucket: String,
        identifiers: WorldIdentifiers, clock: WorldClock
    ) {
        self.store = store
        self.transactions = transactions
        self.facts = facts
        self.bucket = bucket
        self.identifiers = identifiers
        self.clock = clock
    }

    /// The user's open conversation; nil if there is none. One that silence has ended is processed.
    package func current(of principal: Principal) async throws -> Conversation? {
        guard let conversation = try await store.conversations.conversationInProgress(of: principal) else { return nil }
        if conversation.isCurrent(at: clock.now) { return conversation }
        _ = try await process(conversation)
        return nil
    }

    /// Ends and processes the user's open conversation, also one that silence has ended.
    /// - Returns: Nil if there is none, if another caller is ending it, or if it has no segments and photos.
    package func endCurrent(of principal: Principal) async throws -> Conversation? {
        guard let conversation = try await store.conversations.conversationInProgress(of: principal) else { return nil }
        return try await process(conversation)
    }

    /// Returns the id of the user's open conversation; without one, an id for the next conversation.
    /// - Parameter wanted: The id for the next conversation, used if it is free. Otherwise the id is a fresh one.
    package func name(_ wanted: String?, for principal: Principal) async throws -> String {
        if let conversation = try await current(of: principal) { return conversation.id }
        guard let wanted, try await store.conversations.isFreeConversation(wanted, for: principal) else {
            return identifiers.uuid(.conversation)
        }
        return wanted
    }

    /// Returns the user's open conversation, or begins one.
    /// - Throws: ``ScribeError/transactionLimitExceeded``, ``ScribeError/storageUnavailable(cause:)``.
    package func open(_ beginning: NewConversation, for principal: Principal) async throws -> Conversation {
        if let conversation = try await current(of: principal) { return conversation }
        let now = clock.now
        var id = identifiers.uuid(.conversation)
        if let wanted = beginning.id, try await store.conversations.isFreeConversation(wanted, for: principal) {
            id = wanted
        }
        let location = AudioLocation(bucket: bucket, folder: "conversations/\(id)")
        let language = beginning.language.flatMap { TransactionRequest.isLanguage($0) ? $0 : nil }
        let new = try await transactions.new(
            TransactionID(id),
            TransactionRequest(
                transfer: .stream, mode: "conversation", audioURL: location.url,
                inputLanguages: language.map { [$0] } ?? [], flavour: beginning.source, kind: .conversation),
            for: principal)
        let begun = try await store.conversations.begin(
            Conversation(
                id: id, owner: principal, source: beginning.source, language: beginning.language, createdAt: now,
                startedAt: now, finishedAt: now, timeout: beginning.timeout),
            as: new.transaction, documents: new.documents)
        // The wanted id was taken meanwhile.
        guard let conversation = begun else { return try await open(beginning, for: principal) }
        return conversation
    }

    /// Adds segments to the user's open conversation, or begins one with them. They are stored when this returns.
    /// - Parameter known: The open conversation as the caller last read it; nil to read it. The write itself checks
    ///   that it is still open.
    /// - Throws: As ``open(_:for:)``.
    package func add(
        _ segments: [ConversationSegment], _ beginning: NewConversation, to known: Conversation? = nil,
        for principal: Principal
    ) async throws -> AddedSegments {
        var known = known
        while true {
            let now = clock.now
            var conversation: Conversation
            if let current = known, current.isCurrent(at: now) {
                conversation = current
            } else {
                conversation = try await open(beginning, for: principal)
            }
            known = nil
            let urgency = try await urgency(of: segments, in: conversation)
            let added = try await store.conversations.addSegments(
                segments, to: conversation.id, urgency: urgency, timeout: beginning.timeout, at: now)
            // The conversation was ended meanwhile, by a request or by silence.
            guard let added else { continue }
            conversation.finishedAt = now
            conversation.timeout = beginning.timeout
            conversation.urgency = added.urgency
            if added.size >= Limits.conversation { _ = try await process(conversation) }
            return AddedSegments(
                conversation: conversation, segments: segments,
                isMoreUrgent: added.urgency.level > added.levelBefore,
                urgent: urgency.reasons.map(\.segment))
        }
    }

    /// Finds emergencies in segments. An answer is read with the question before it, which may be in the store already.
    private func urgency(of segments: [ConversationSegment], in conversation: Conversation) async throws -> Urgency {
        var question: String?
        if let first = segments.first, UrgencyFeatures.isAnswer(first.text) {
            question = try await store.conversations.lastSegmentText(of: conversation.id)
        }
        // Weighing a text takes several times as long as parsing it.
        let size = segments.total { $0.text.utf8.count }
        return await EventLoopOffload.run(bytes: 8 * size) { [question] in
            var urgency = Urgency()
            var before = question
            for segment in segments {
                defer { before = segment.text }
                guard let level = UrgencyClassifier.level(of: segment.text, after: before), level > .none else {
                    continue
                }
                urgency.level = max(urgency.level, level)
                urgency.reasons.append(.init(segment: segment.id, text: segment.text))
            }
            return urgency
        }
    }

    /// Adds a photo to the user's open conversation, or begins one with it.
    /// - Returns: Nil if the conversation has the most photos that it may have, or the business has reached its quota.
    package func add(
        _ base64: String, _ beginning: NewConversation, for principal: Principal
    ) async throws -> ConversationPhoto? {
        let conversation = try await open(beginning, for: principal)
        let photo = ConversationPhoto(id: identifiers.uuid(.photo), base64: base64, createdAt: clock.now)
        do {
            return try await store.conversations.addPhoto(photo, to: conversation.id, at: clock.now) ? photo : nil
        } catch ScribeError.storageQuotaExceeded {
            return nil
        }
    }

    /// Ends a conversation, and makes its summary, memories and note. Processing that was interrupted begins again.
    /// - Returns: Nil if another caller processes it, or if it has no segments and photos: then it is deleted.
    package func process(_ conversation: Conversation) async throws -> Conversation? {
        guard processingIDs.withLock({ $0.insert(conversation.id).inserted }) else { return nil }
        defer { processingIDs.withLock { _ = $0.remove(conversation.id) } }
        let isOpen = conversation.status == .inProgress
        guard try await store.conversations.beginProcessing(conversation.id, from: isOpen ? .inProgress : .processing)
        else {
            return nil
        }
        var processing = conversation
        processing.status = .processing
        // The caller may be cancelled, and no other would resume the processing.
        return try await shieldFromCancellation { [processing] in
            do {
                return try await finish(processing)
            } catch {
                try? await store.conversations.leave(conversation: processing.id)
                throw error
            }
        }
    }

    private func finish(_ conversation: Conversation) async throws -> Conversation? {
        guard try await !store.conversations.isEmptyConversation(conversation.id) else {
            _ = try await store.conversations.deleteConversation(conversation.id, of: conversation.owner)
            try await hideTransaction(conversation)
            return nil
        }
        let transcript = try await store.conversations.segments(of: conversation.id).transcript
        let completed = try await summarised(conversation, transcript)
        return try await store.conversations.complete(
            completed.conversation, memories: completed.memories,
            note: transcript.isEmpty ? nil : try await note(of: conversation, transcript), at: clock.now)
    }

    /// The transcript with its unwritten note.
    /// - Returns: Nil if the transaction is gone, or the transcript is longer than ``Limits`` allow.
    private func note(
        of conversation: Conversation, _ transcript: String
    ) async throws -> (transcript: String, document: ResultDocument)? {
        do {
            try Limits.require(transcript, within: Limits.transcript, "transcript")
            return (transcript, try await transactions.document(of: conversation.key, nil))
        } catch let error as ScribeError where error.kind != .unavailable {
            return nil
        }
    }

    /// Makes summary, memories and note of a finished conversation again.
    package func reprocess(_ conversation: Conversation) async throws -> Conversation {
        let transcript = try await store.conversations.segments(of: conversation.id).transcript
        let completed = try await summarised(conversation, transcript)
        // The note may have failed before for lack of quota, and fit now.
        return try await store.conversations.complete(
            completed.conversation, memories: completed.memories,
            note: transcript.isEmpty ? nil : try await note(of: conversation, transcript), keepsTitle: false,
            at: clock.now)
    }

    /// Hides the transaction of a conversation that its user deleted.
    package func hideTransaction(_ conversation: Conversation) async throws {
        do {
            try await transactions.archive(conversation.key, by: conversation.owner.user)
        } catch ScribeError.transactionNotFound {
            return
        }
    }

    private func summarised(
        _ conversation: Conversation, _ transcript: String
    ) async throws -> (conversation: Conversation, memories: [Memory]) {
        let found = try await facts.facts(in: transcript)
        var completed = conversation
        let date = conversation.finishedAt
        let (summary, remembered) = await EventLoopOffload.run(bytes: transcript.utf8.count) {
            (
                ConversationSummary.summary(found, of: transcript, at: date),
                ConversationSummary.memories(found, in: transcript)
            )
        }
        completed.summary = summary
        let memories = remembered.map { memory in
            Memory(
                id: identifiers.uuid(.memory), content: memory.content, category: memory.category, createdAt: clock.now,
                updatedAt: clock.now, conversation: conversation.id)
        }
        return (completed, memories)
    }
}

extension [ConversationSegment] {
    /// The text of the segments, with a line for each turn of a speaker.
    package var transcript: String {
        var lines: [String] = []
        var speaker: String?
        for segment in self {
            if segment.speaker == speaker, !lines.isEmpty {
                lines[lines.count - 1].append(" ")
                lines[lines.count - 1].append(segment.text)
            } else {
                lines.append(segment.text)
            }
            speaker = segment.speaker
        }
        return lines.joined(separator: "\n")
    }
}
