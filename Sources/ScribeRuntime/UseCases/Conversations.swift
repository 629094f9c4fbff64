package import Engines
import Foundation
package import ScribeDomain
package import ScribeStore

/// What is done with conversations, whichever door their words come by. Each is a transaction too, so that history,
/// templates and conversion know it.
package struct Conversations: Sendable {
    /// How a conversation begins that is not there yet.
    package struct Beginning: Hashable, Sendable {
        package var source: String
        package var language: String?
        /// How long silence may last before it is over, in seconds.
        package var timeout: Int
        /// As it is to be called where nothing is called so; nil for a fresh id.
        package var id: String?

        package init(source: String, language: String?, timeout: Int, id: String? = nil) {
            self.id = id
            self.source = source
            self.language = language
            self.timeout = timeout
        }
    }

    /// What became of words that were said.
    package struct Addition: Sendable {
        package let conversation: Conversation
        package let segments: [ConversationSegment]
        /// Whether they make the conversation more urgent than it was.
        package let isMoreUrgent: Bool
        /// Which of them are urgent.
        package let urgent: [String]
    }

    private let store: Store
    private let consultations: Consultations
    private let facts: ClinicalFacts
    private let bucket: String
    private let identifiers: IdentifierSource
    private let clock: WorldClock
    /// Ids of the conversations that are being processed now, shared by all copies.
    private let inHand = LockedValue<Set<String>>([])

    /// - Parameter bucket: of the audio of conversations.
    package init(
        store: Store, consultations: Consultations, facts: ClinicalFacts, bucket: String,
        identifiers: IdentifierSource, clock: WorldClock
    ) {
        self.store = store
        self.consultations = consultations
        self.facts = facts
        self.bucket = bucket
        self.identifiers = identifiers
        self.clock = clock
    }

    /// The conversation that a user is having, if silence has not ended it.
    package func current(of principal: Principal) async throws -> Conversation? {
        guard let conversation = try await store.conversationInProgress(of: principal) else { return nil }
        if conversation.isCurrent(at: clock.now) { return conversation }
        _ = try await process(conversation)
        return nil
    }

    /// Ends the conversation that a user is having, also one that silence has ended.
    /// - Returns: nil when there is none, when another caller is ending it, or when nothing was said.
    package func endCurrent(of principal: Principal) async throws -> Conversation? {
        guard let conversation = try await store.conversationInProgress(of: principal) else { return nil }
        return try await process(conversation)
    }

    /// What the conversation is called that a user is having, or will have next.
    /// - Parameter wanted: what it is to be called if nothing else is.
    package func name(_ wanted: String?, for principal: Principal) async throws -> String {
        if let conversation = try await current(of: principal) { return conversation.id }
        guard let wanted, try await store.isFreeConversation(wanted, for: principal) else { return identifiers.uuid() }
        return wanted
    }

    /// The conversation that a user is having, begun if need be.
    /// - Throws: ``ScribeError/transactionLimitExceeded``, ``ScribeError/storageUnavailable(cause:)``.
    package func open(_ beginning: Beginning, for principal: Principal) async throws -> Conversation {
        if let conversation = try await current(of: principal) { return conversation }
        let now = clock.now
        var id = identifiers.uuid()
        if let wanted = beginning.id, try await store.isFreeConversation(wanted, for: principal) { id = wanted }
        let location = AudioLocation(bucket: bucket, folder: "conversations/\(id)")
        let language = beginning.language.flatMap { TransactionRequest.isLanguage($0) ? $0 : nil }
        let new = try await consultations.new(
            TransactionID(id),
            TransactionRequest(
                transfer: .stream, mode: "conversation", audioURL: location.url,
                inputLanguages: language.map { [$0] } ?? [], flavour: beginning.source, kind: .conversation),
            for: principal)
        let begun = try await store.begin(
            Conversation(
                id: id, owner: principal, source: beginning.source, language: beginning.language, createdAt: now,
                startedAt: now, finishedAt: now, timeout: beginning.timeout),
            as: new.transaction, documents: new.documents)
        // Taken meanwhile, as only a wanted one can be.
        guard let conversation = begun else { return try await open(beginning, for: principal) }
        return conversation
    }

    /// Adds what was said to the conversation that the user is having, or begins one with it. It is stored when this
    /// returns.
    /// - Parameter known: the conversation that the user is having, as far as the caller knows. It is not read again: the
    ///   write decides whether it is still in progress.
    /// - Throws: as ``open(_:for:)``.
    package func add(
        _ segments: [ConversationSegment], _ beginning: Beginning, to known: Conversation? = nil,
        for principal: Principal
    ) async throws -> Addition {
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
            let added = try await store.add(
                segments, to: conversation.id, urgency: urgency, timeout: beginning.timeout, at: now)
            // It was ended meanwhile, or silence has ended it.
            guard let added else { continue }
            conversation.finishedAt = now
            conversation.timeout = beginning.timeout
            conversation.urgency = added.urgency
            if added.size >= Limits.conversation { _ = try await process(conversation) }
            return Addition(
                conversation: conversation, segments: segments,
                isMoreUrgent: added.urgency.level > added.levelBefore,
                urgent: urgency.reasons.map(\.segment))
        }
    }

    /// What is urgent in segments. An answer is read with the question before it, which may be stored already.
    private func urgency(of segments: [ConversationSegment], in conversation: Conversation) async throws -> Urgency {
        var urgency = Urgency()
        var question: String?
        if let first = segments.first, UrgencyRules.isAnswer(first.text) {
            question = try await store.lastSegmentText(of: conversation.id)
        }
        for segment in segments {
            defer { question = segment.text }
            guard let level = UrgencyRules.level(of: segment.text, after: question), level > .none else { continue }
            urgency.level = max(urgency.level, level)
            urgency.reasons.append(.init(segment: segment.id, text: segment.text))
        }
        return urgency
    }

    /// Keeps a picture with the conversation that the user is having.
    /// - Returns: nil when it has as many as it may, or its business stores as much as it may.
    package func add(
        _ base64: String, _ beginning: Beginning, for principal: Principal
    ) async throws -> ConversationPhoto? {
        let conversation = try await open(beginning, for: principal)
        let photo = ConversationPhoto(id: identifiers.uuid(), base64: base64, createdAt: clock.now)
        do {
            return try await store.add(photo, to: conversation.id, at: clock.now) ? photo : nil
        } catch ScribeError.storageQuotaExceeded {
            return nil
        }
    }

    /// Ends a conversation and makes of it what is to be made. What was interrupted at that is done again.
    /// - Returns: nil when somebody else does it, or nothing was said.
    package func process(_ conversation: Conversation) async throws -> Conversation? {
        guard inHand.withLock({ $0.insert(conversation.id).inserted }) else { return nil }
        defer { inHand.withLock { _ = $0.remove(conversation.id) } }
        if conversation.status == .inProgress {
            guard try await store.move(conversation.id, from: .inProgress, to: .processing) else { return nil }
        } else {
            // Somebody may have done it since it was read.
            let now = try await store.conversation(conversation.id, of: conversation.owner)
            guard now?.status == .processing else { return nil }
        }
        // Whoever asked for it may go, and nobody else will take it up.
        return try await uncancelled { try await finish(conversation) }
    }

    private func finish(_ conversation: Conversation) async throws -> Conversation? {
        guard try await !store.isEmptyConversation(conversation.id) else {
            _ = try await store.deleteConversation(conversation.id, of: conversation.owner)
            try await forget(conversation)
            return nil
        }
        let transcript = try await store.segments(of: conversation.id).transcript
        let completed = try await summarised(conversation, transcript)
        return try await store.complete(
            completed.conversation, memories: completed.memories,
            note: transcript.isEmpty ? nil : try await note(of: conversation, transcript), at: clock.now)
    }

    /// The transcript with the document that is to be written of it.
    /// - Returns: nil for a transaction that is gone, and for a text beyond ``Limits``.
    private func note(
        of conversation: Conversation, _ transcript: String
    ) async throws -> (transcript: String, document: ResultDocument)? {
        do {
            try Limits.require(transcript, within: Limits.transcript, "transcript")
            return (transcript, try await consultations.document(of: conversation.key, nil, in: nil).document)
        } catch let error as ScribeError where error.kind != .unavailable {
            return nil
        }
    }

    /// Makes of a finished conversation anew what is to be made.
    package func reprocess(_ conversation: Conversation) async throws -> Conversation {
        let transcript = try await store.segments(of: conversation.id).transcript
        let completed = try await summarised(conversation, transcript)
        // A transaction that could not take its note at first, for its business had no room, takes it now.
        return try await store.complete(
            completed.conversation, memories: completed.memories,
            note: transcript.isEmpty ? nil : try await note(of: conversation, transcript), keepsTitle: false,
            at: clock.now)
    }

    /// What is left of a conversation that its user has deleted: its transaction is hidden too.
    package func forget(_ conversation: Conversation) async throws {
        do {
            try await consultations.archive(conversation.key, by: conversation.owner.user)
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
        let (summary, remembered) = await LongWork.run(bytes: transcript.utf8.count) {
            (
                ConversationSummary.summary(found, of: transcript, at: date),
                ConversationSummary.memories(found, in: transcript)
            )
        }
        completed.summary = summary
        let memories = remembered.map { memory in
            Memory(
                id: identifiers.uuid(), content: memory.content, category: memory.category, createdAt: clock.now,
                updatedAt: clock.now, conversation: conversation.id)
        }
        return (completed, memories)
    }
}

extension [ConversationSegment] {
    /// A line for each turn.
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
