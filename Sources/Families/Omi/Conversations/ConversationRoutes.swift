import Basics
import Foundation
import HTTPTypes
import Hummingbird
import ScribeDomain
import ScribeHTTP
import ScribeRuntime
import ScribeStore

/// `/v1/conversations`: reads, edits and processes conversations (streaming.md 4.6); `POST /v1/transcribe/text`.
///
/// Each value comes from where the backend's signature takes it; docs/recipes/omi.md names the commit.
struct ConversationRoutes: Sendable {
    let runtime: Runtime
    let settings: OmiFamily.Settings

    private static let parameter = "conversation_id"
    private static let maxListed = 1000

    /// Body of an assignment of several segments.
    private struct Assignment: Decodable {
        let kind: String
        let value: String?
        let segments: [String]

        enum CodingKeys: String, CodingKey {
            case kind = "assign_type"
            case value
            case segments = "segment_ids"
        }

        /// Validates the lengths.
        /// - Throws: ``ScribeError/invalidRequest(field:problem:)``.
        func require() throws(ScribeError) {
            try Limits.require(segments.count, atMost: Limits.files, "segment_ids")
            try OmiLimits.require(value ?? "", atMost: OmiLimits.name, "value")
        }
    }

    /// Names of recognisers that the app reads without a check for null.
    private static let recognisers = ["deepgram", "soniox", "speechmatics", "whisperx"]

    static func add(to router: WorldRoutes<Self>) {
        router.group("v1/conversations")
            .get(use: list)
            .post(use: processCurrent)
            .get("{conversation_id}", use: read)
            .delete("{conversation_id}", use: delete)
            .get("{conversation_id}/transcripts", use: transcripts)
            .get("{conversation_id}/photos", use: photos)
            .get("{conversation_id}/recording", use: recording)
            .patch("{conversation_id}/title", use: setTitle)
            .patch("{conversation_id}/segments/assign-bulk", use: assignMany)
            .patch("{conversation_id}/segments/{index}/assign", use: assignOne)
            .post("{conversation_id}/reprocess", use: reprocess)
        router.post("v1/transcribe/text", use: transcribeText)
    }

    @Sendable private func list(_ request: Request, _ context: ScribeContext) async throws -> Response {
        let principal = try context.requirePrincipal()
        let query = try ConversationListQuery(request.query, maxListed: Self.maxListed)
        guard !query.isOfNone else { return .json(.ok, []) }
        let ids = try await runtime.store.conversations.conversationIDs(of: principal, query.value)
        return ConversationJSON(store: runtime.store, principal: principal).response(listing: ids)
    }

    /// Ends the user's current conversation.
    @Sendable private func processCurrent(_ request: Request, _ context: ScribeContext) async throws -> Response {
        let principal = try context.requirePrincipal()
        guard let completed = try await runtime.conversations.endCurrent(of: principal) else {
            throw OmiError.notFound("Conversation in progress")
        }
        return ConversationJSON(store: runtime.store, principal: principal).response(
            with: try await page(completed.id, context), between: #"{"conversation":"#, and: #","messages":[]}"#)
    }

    @Sendable private func read(_ request: Request, _ context: ScribeContext) async throws -> Response {
        // No conversation is discarded.
        _ = try request.query.boolean("include_discarded")
        let page = try await page(context.text(of: Self.parameter) ?? "", context)
        if let source = request.query["source"] {
            guard source == "omi" else {
                throw OmiError.invalidValue("Only source=omi is supported for provenance-constrained detail reads")
            }
            guard page.conversation.source == source else { throw OmiError.notFound("Conversation") }
        }
        return ConversationJSON(store: runtime.store, principal: try context.requirePrincipal()).response(with: page)
    }

    /// Deletes a conversation, with `cascade` its memories too. The backend's 200 of July 2026 breaks released apps,
    /// which take 204 alone for success.
    @Sendable private func delete(_ request: Request, _ context: ScribeContext) async throws -> Response {
        let isCascade = try request.query.boolean("cascade") ?? false
        let conversation = try await conversation(context)
        guard
            try await runtime.store.conversations.deleteConversation(
                conversation.id, of: conversation.owner, cascades: isCascade)
        else { throw OmiError.notFound("Conversation") }
        try await runtime.conversations.hideTransaction(conversation)
        return Response(status: .noContent)
    }

    /// Lists the segments by speech-to-text provider; ``recognisers`` are always listed.
    @Sendable private func transcripts(_ request: Request, _ context: ScribeContext) async throws -> Response {
        let segments = try await runtime.store.conversations.segments(of: try await conversation(context).id)
        let none = Dictionary(uniqueKeysWithValues: Self.recognisers.map { ($0, [ConversationSegment]()) })
        let byProvider = Dictionary(grouping: segments) { $0.provider ?? "unknown" }.merging(none) { some, _ in some }
            .sorted { $0.key < $1.key }
        return try await .longJSON(.ok, .object(byProvider.map { ($0.key, .array($0.value, \.json)) }))
    }

    @Sendable private func photos(_ request: Request, _ context: ScribeContext) async throws -> Response {
        let page = try await page(context.text(of: Self.parameter) ?? "", context)
        return ConversationJSON(store: runtime.store, principal: try context.requirePrincipal()).response(
            withPhotosOf: page)
    }

    /// Whether the conversation has stored audio.
    @Sendable private func recording(_ request: Request, _ context: ScribeContext) async throws -> Response {
        let conversation = try await conversation(context)
        let transaction = try await runtime.store.transactions.transaction(conversation.key)
        var hasRecording = false
        if let transaction, let files = try await runtime.store.audio.fileNames(of: transaction) {
            hasRecording = !files.isEmpty
        }
        return .json(.ok, ["has_recording": .bool(hasRecording)])
    }

    /// Sets the title. The desktop app decodes the conversation of the answer; the phone's reads the status alone.
    @Sendable private func setTitle(_ request: Request, _ context: ScribeContext) async throws -> Response {
        guard let title = try request.query.text("title", atMost: OmiLimits.name) else {
            throw OmiInvalidInput.missing(.query, "title")
        }
        let conversation = try await conversation(context)
        try await runtime.store.conversations.setTitle(title.storable, of: conversation.id)
        return ConversationJSON(store: runtime.store, principal: try context.requirePrincipal()).response(
            with: try await page(conversation.id, context), between: #"{"status":"Ok","conversation":"#, and: "}")
    }

    @Sendable private func assignOne(_ request: Request, _ context: ScribeContext) async throws -> Response {
        guard let index = context.text(of: "index").flatMap({ Int($0) }) else {
            throw OmiInvalidInput(
                .path, "segment_idx", type: "int_parsing",
                "Input should be a valid integer, unable to parse string as an integer")
        }
        guard let kind = request.query["assign_type"].map(String.init) else {
            throw OmiInvalidInput.missing(.query, "assign_type")
        }
        let value = try request.query.text("value", atMost: OmiLimits.name)
        // No speech is trained.
        _ = try request.query.boolean("use_for_speech_training")
        let conversation = try await conversation(context)
        let segments = try await runtime.store.conversations.segments(of: conversation.id)
        guard segments.indices.contains(index) else { throw OmiError.notFound("Segment") }
        return try await assign([segments[index].id], of: conversation, kind, value, context)
    }

    @Sendable private func assignMany(_ request: Request, _ context: ScribeContext) async throws -> Response {
        let assignment = try await request.decodeJSON(as: Assignment.self, in: context)
        try assignment.require()
        return try await assign(
            assignment.segments, of: try await conversation(context), assignment.kind, assignment.value, context)
    }

    /// Assigns a speaker. The backend takes `null` for no value, and any other text of `is_user` for true.
    private func assign(
        _ segments: [String], of conversation: Conversation, _ kind: String, _ value: String?, _ context: ScribeContext
    ) async throws -> Response {
        let value = value.flatMap { $0.isEmpty || $0 == "null" ? nil : $0.storable }
        switch kind {
        case "is_user":
            try await runtime.store.conversations.assign(
                segments, of: conversation.id, isUser: value != nil, person: nil)
        case "person_id":
            try await runtime.store.conversations.assign(segments, of: conversation.id, isUser: false, person: value)
        default: throw OmiError.invalidValue("Invalid assign type")
        }
        return try await answer(with: conversation.id, context)
    }

    @Sendable private func reprocess(_ request: Request, _ context: ScribeContext) async throws -> Response {
        let conversation = try await conversation(context)
        guard conversation.status == .completed else {
            throw ScribeError.invalidState("The conversation is not completed yet")
        }
        return try await answer(with: try await runtime.conversations.reprocess(conversation).id, context)
    }

    /// Adds text to the current conversation without a socket.
    @Sendable private func transcribeText(_ request: Request, _ context: ScribeContext) async throws -> Response {
        let principal = try context.requirePrincipal()
        let body = try await request.decodeJSON(as: JSONValue.self, in: context)
        let parts = OmiCommand.Words.all(in: body)
        guard let words = parts.first, parts.count == 1 else {
            throw ScribeError.invalidRequest(
                field: "text", problem: "must say something, in at most \(OmiLimits.segment) characters")
        }
        guard OmiCommand.isFinal(body) else { return .json(.ok, ["conversation_id": .null, "segments": []]) }
        let timeout = max(1, Int(saturating: settings.conversationTimeout / .seconds(1)))
        let addition = try await runtime.conversations.add(
            [ConversationSegment(words, id: runtime.identifiers.uuid(.segment), by: OmiCommand.ownProvider)],
            .init(source: "phone", language: "en", timeout: timeout), for: principal)
        runtime.metrics.segmentsAdded(1, from: "call")
        return try await .longJSON(.ok, addition.json)
    }

    /// The conversation of the path.
    /// - Throws: ``OmiError/notFound(_:)``, also for another user's conversation.
    private func conversation(_ context: ScribeContext) async throws -> Conversation {
        guard let id = context.text(of: Self.parameter),
            let conversation = try await runtime.store.conversations.conversation(
                id, of: try context.requirePrincipal())
        else { throw OmiError.notFound("Conversation") }
        return conversation
    }

    /// The conversation with its first page of segments.
    /// - Throws: ``OmiError/notFound(_:)``, also for another user's conversation.
    private func page(_ id: String, _ context: ScribeContext) async throws -> ConversationPage {
        guard let page = try await runtime.store.conversations.conversationPage(id, of: try context.requirePrincipal())
        else {
            throw OmiError.notFound("Conversation")
        }
        return page
    }

    private func answer(with id: String, _ context: ScribeContext) async throws -> Response {
        let page = try await page(id, context)
        return ConversationJSON(store: runtime.store, principal: try context.requirePrincipal()).response(with: page)
    }
}
