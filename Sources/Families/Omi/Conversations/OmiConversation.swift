import Basics
import Engines
import Foundation
import NIOCore
import ScribeDomain
import ScribeHTTP
import ScribeRuntime
import ScribeStore

/// State of one device socket in its user's current conversation. Words are stored before they are echoed, in the same
/// order.
actor OmiConversation {
    let runtime: Runtime
    let principal: Principal
    private let query: OmiQuery
    let beginning: Conversations.NewConversation
    private let sockets: OmiSockets
    private let socket: WebSocket

    private var current: Conversation?
    /// The conversation id last sent to the client, which requests its notes under that id (transcriptionSocket.ts).
    ///
    /// nil for a device, which gets no id.
    private var sentConversationID: String?
    private var repeated = RepeatedSegments([])
    /// Calls of `tick` since the last words, while possibly repeated segments are held; nil while none is.
    private var ticksHeld: Int?
    /// Assigned person of each speaker number.
    private var people: [Int: (isUser: Bool, person: String?)] = [:]
    private var pictures: OmiPicture
    /// Memory for a conversation's pictures while they are sent.
    private let memory: MemoryShare
    /// Memory for one message's words while they are stored and echoed, part by part.
    private let wordMemory: MemoryShare
    private var lastLook: Date
    var recording: LiveRecording?
    var audioBegan: Date
    /// Ended conversations whose results were not sent to the device yet.
    private var unfinished: [String] = []
    /// Held while words are stored and echoed, so that words of text, of audio and of a release are echoed in the order
    /// in which they were stored: an actor runs other calls while one of them waits.
    let order = AsyncMutex()

    /// Calls of `tick` that possibly repeated segments are held for: 2 to 3 seconds without words.
    ///
    /// A device that repeats segments does so at once. Calls are counted, not seconds, because a process that stood
    /// still for a while has words to read that came meanwhile.
    private static let longestHold = 3

    init(
        runtime: Runtime, principal: Principal, query: OmiQuery, timeout: Int, sockets: OmiSockets, socket: WebSocket,
        pictures: OmiPicture, memory: MemoryShare, wordMemory: MemoryShare
    ) {
        self.runtime = runtime
        self.principal = principal
        self.query = query
        self.sockets = sockets
        self.socket = socket
        self.pictures = pictures
        self.memory = memory
        self.wordMemory = wordMemory
        lastLook = runtime.clock.now
        audioBegan = runtime.clock.now
        sentConversationID = query.sendsConversationIDs ? query.conversation : nil
        beginning = Conversations.NewConversation(
            source: query.source, language: query.options.language, timeout: timeout, id: query.conversation)
    }

    // MARK: Beginning and end

    /// Resumes the current conversation unless silence has ended it (streaming.md 4.4, the order at open).
    func open() async throws {
        if let sentConversationID { await send(OmiEvent.session(sentConversationID)) }
        try await socket.send(text: "ping")
        await send(OmiEvent.status("initiating", "Service Starting"))
        let last = try await runtime.store.conversations.conversations(
            of: principal, .init(statuses: [.completed], offset: 0, limit: 1))
        if let last = last.first { await send(OmiEvent.lastMemory(last.id)) }
        await send(OmiEvent.status("in_progress_conversations_processing", "Processing Existing Conversations"))
        try await sockets.awaitOtherSockets(of: principal, runtime.clock.wall)
        current = try await runtime.conversations.current(of: principal)
        if let current { repeated = RepeatedSegments(try await runtime.store.conversations.segments(of: current.id)) }
        await send(OmiEvent.status("stt_initiating", "STT Service Starting"))
        await send(OmiEvent.status("ready", ""))
    }

    /// Stores the held segments when the device closes its socket: they were no repetition.
    func close() async throws { try await order.withLock { try await store(repeated.release(), from: "edge_asr") } }

    /// Releases held segments, sends finished conversations and ends silent ones. Called periodically.
    func tick() async throws {
        try await order.withLock { try await releaseHeld() }
        try await sendFinished()
        try await order.withLock { try await endIfSilent() }
    }

    private func releaseHeld() async throws {
        guard let ticks = ticksHeld else { return }
        ticksHeld = ticks + 1
        guard ticks + 1 >= Self.longestHold else { return }
        ticksHeld = nil
        try await store(repeated.release(), from: "edge_asr")
    }

    /// Looks up the current conversation every five seconds, or once it is overdue, and ends it after silence.
    private func endIfSilent() async throws {
        let now = runtime.clock.now
        guard let conversation = current else { return }
        guard conversation.isOverdue(at: now) || now.timeIntervalSince(lastLook) >= 5 else { return }
        lastLook = now
        let stored = try await runtime.store.conversations.conversation(conversation.id, of: principal)
        guard let stored else { return leave() }
        if stored.isCurrent(at: now) {
            // Words may have come over another socket.
            current?.finishedAt = max(stored.finishedAt, conversation.finishedAt)
        } else {
            try await end(stored)
        }
    }

    /// Forgets the current conversation and its held segments.
    private func leave() {
        current = nil
        repeated = RepeatedSegments([])
        ticksHeld = nil
    }

    /// Announces the end of a conversation, processes it, and sends its results once they exist.
    private func end(_ conversation: Conversation) async throws {
        let held = repeated.release()
        leave()
        // A conversation no longer in progress is processed elsewhere.
        let isMine = conversation.status == .inProgress
        guard try await !runtime.store.conversations.isEmptyConversation(conversation.id) else {
            if isMine { _ = try await runtime.conversations.process(conversation) }
            return
        }
        var processing = conversation
        processing.status = .processing
        unfinished.append(conversation.id)
        let segments = try await runtime.store.conversations.segments(of: conversation.id)
        await send(OmiEvent.processingStarted(processing.json(segments)), size: segments.size)
        if isMine { _ = try await runtime.conversations.process(conversation) }
        try await sendFinished()
        try await store(held, from: "edge_asr")
    }

    /// Sends the results of ended conversations, whichever socket processed them.
    private func sendFinished() async throws {
        for id in unfinished {
            let stored = try await runtime.store.conversations.conversation(id, of: principal)
            guard stored?.status != .processing, stored?.status != .inProgress, unfinished.contains(id) else {
                continue
            }
            unfinished.removeAll { $0 == id }
            guard let stored else { continue }
            let pictures = try await runtime.store.conversations.conversationPage(id, of: principal)?.photos ?? []
            let size = pictures.total(\.size)
            // Four times: the pictures as read, the message's array that doubles as it grows, and its copy in a buffer.
            try await memory.take(4 * size)
            defer { memory.hold(0) }
            let (segments, photos) = (
                try await runtime.store.conversations.segments(of: id),
                try await runtime.store.conversations.photos(of: id)
            )
            await send(OmiEvent.memoryCreated(stored.json(segments, photos)), size: segments.size + size)
        }
    }

    /// Switches to a conversation, and ends the previous one.
    func follow(_ conversation: Conversation) async throws {
        let before = current
        current = conversation
        guard before?.id != conversation.id else { return }
        if let sentConversationID, sentConversationID != conversation.id {
            // Another socket began a conversation under that name, or the user began one elsewhere.
            self.sentConversationID = conversation.id
            await send(OmiEvent.session(conversation.id))
        }
        if let recording { try await recording.move(to: TransactionID(conversation.id)) }
        guard let before else { return }
        repeated = RepeatedSegments([])
        ticksHeld = nil
        if let ended = try await runtime.store.conversations.conversation(before.id, of: principal) {
            try await end(ended)
            current = conversation
        }
    }

    // MARK: Words

    func take(_ command: OmiCommand) async throws {
        switch command {
        case .words(let words):
            try await storeAndEcho(words, by: OmiCommand.ownProvider, from: "edge_asr")
        case .suggested(let words, let provider):
            guard query.usesCustomRecogniser else { return }
            try await storeAndEcho(words, by: provider, from: "suggested")
        case .assigned(let speaker, let person, let ids):
            let isUser = person == "user"
            let name = isUser || person.isEmpty ? nil : person
            if people.count < OmiLimits.people || people[speaker] != nil { people[speaker] = (isUser, name) }
            guard let current else { return }
            try await runtime.store.conversations.assign(ids, of: current.id, isUser: isUser, person: name)
        case .picture(let piece):
            try await pictures.makeRoom(for: piece)
            guard let picture = pictures.add(piece) else { return }
            guard let photo = try await runtime.conversations.add(picture, beginning, for: principal) else { return }
            await send(OmiEvent.photoProcessing(temporary: piece.id, photo: photo.id))
            await send(OmiEvent.photoDescribed(photo.id))
        }
    }

    func segment(_ words: OmiCommand.Words, by provider: String) -> ConversationSegment {
        var segment = ConversationSegment(words, id: runtime.identifiers.uuid(.segment), by: provider)
        if let known = people[segment.speakerID] {
            (segment.isUser, segment.personID) = (known.isUser, known.person)
        }
        return segment
    }

    /// Stores and echoes words in parts, and yields the thread between parts.
    private func storeAndEcho(_ words: [OmiCommand.Words], by provider: String, from source: String) async throws {
        try await wordMemory.take(words.count * MemoryLayout<OmiCommand.Words>.stride)
        defer { wordMemory.hold(0) }
        for part in words.parts(of: EventLoopOffload.threshold) {
            try await order.withLock { try await storeAndEcho(part.map { segment($0, by: provider) }, from: source) }
            await EventLoopOffload.yield()
        }
    }

    private func storeAndEcho(_ segments: [ConversationSegment], from source: String) async throws {
        // None is released while words are being taken.
        ticksHeld = nil
        // A REST request may have ended the conversation; in the next one times start at zero again.
        if let conversation = current, segments.contains(where: repeated.knows),
            try await runtime.conversations.current(of: principal)?.id != conversation.id
        {
            repeated = RepeatedSegments([])
        }
        let new = segments.flatMap { repeated.take($0) }
        ticksHeld = repeated.holdsAny ? 0 : nil
        try await store(new, from: source)
    }

    /// Stores segments and echoes them to the device. Its callers hold ``order``.
    /// - Parameter source: Label of the metric.
    func store(_ segments: [ConversationSegment], from source: String) async throws {
        guard !segments.isEmpty else { return }
        let addition = try await runtime.conversations.add(segments, beginning, to: current, for: principal)
        try await follow(addition.conversation)
        runtime.metrics.segmentsAdded(segments.count, from: source)
        await send(.array(addition.segments, \.json), size: addition.segments.size)
        if addition.isMoreUrgent {
            await send(OmiEvent.urgencyDetected(addition.conversation.urgency.level, segments: addition.urgent))
        }
        for segment in segments {
            guard let name = SpeakerIntroduction.name(in: segment.text) else { continue }
            await send(OmiEvent.speakerSuggestion(speaker: segment.speakerID, name: name, segment: segment.id))
        }
    }

    // MARK: To the device

    private func send(_ message: @autoclosure () -> JSON, size: Int = 0) async {
        // The words are stored, so a device that has disconnected is no error.
        try? await socket.send(message(), size: size)
    }
}
