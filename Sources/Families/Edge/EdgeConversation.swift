import Engines
import Foundation
import NIOCore
import ScribeDomain
import ScribeHTTP
import ScribeRuntime
import ScribeStore

/// What one socket knows of the conversation that its user is having: each word is stored before it is echoed.
actor EdgeConversation {
    private let runtime: Runtime
    private let principal: Principal
    private let query: EdgeQuery
    private let beginning: Conversations.Beginning
    private let sockets: EdgeSockets
    private let socket: WebSocket

    private var current: Conversation?
    private var repeated = RepeatedSegments([])
    /// When the last of those came of which it is not known whether they are new.
    private var heldSince: Date?
    /// Who was said to be behind a speaker's number.
    private var people: [Int: (isUser: Bool, person: String?)] = [:]
    private var pictures = EdgePicture()
    private var lastLook: Date
    private var recording: LiveRecording?
    /// Where the audio began, in seconds of the conversation.
    private var audioStart = 0.0

    /// A device that sends again what it has sent before does so at once.
    private static let longestHold = 1.5

    init(
        runtime: Runtime, principal: Principal, query: EdgeQuery, timeout: Int, sockets: EdgeSockets, socket: WebSocket
    ) {
        self.runtime = runtime
        self.principal = principal
        self.query = query
        self.sockets = sockets
        self.socket = socket
        lastLook = runtime.clock.now
        beginning = Conversations.Beginning(
            source: query.source, language: query.options.language, timeout: timeout)
    }

    // MARK: Beginning and end

    /// Goes on with the conversation that is there, if silence has not ended it (streaming.md 4.4, the order at open).
    func open() async throws {
        try await socket.send(text: "ping")
        try await tell(.status("initiating", "Service Starting"))
        let last = try await runtime.store.conversations(
            of: principal, .init(statuses: [.completed], offset: 0, limit: 1))
        if let last = last.first { try await tell(.lastMemory(last.id)) }
        try await tell(.status("in_progress_conversations_processing", "Processing Existing Conversations"))
        try await sockets.waitForOthers(of: principal, runtime.clock)
        current = try await runtime.conversations.current(of: principal)
        if let current { repeated = RepeatedSegments(try await runtime.store.segments(of: current.id)) }
        try await tell(.status("stt_initiating", "STT Service Starting"))
        try await tell(.status("ready", ""))
    }

    /// What becomes true by time alone.
    func tick() async throws {
        let now = runtime.clock.now
        if let since = heldSince, now.timeIntervalSince(since) >= Self.longestHold {
            heldSince = nil
            try await store(repeated.release(), from: "edge_asr")
        }
        guard let conversation = current else { return }
        if now.timeIntervalSince(conversation.finishedAt) >= Double(conversation.timeout) {
            current = nil
            // Another socket may have had words meanwhile.
            guard let stored = try await runtime.store.conversation(conversation.id, of: principal) else { return }
            guard stored.status != .inProgress || now.timeIntervalSince(stored.finishedAt) >= Double(stored.timeout)
            else {
                current = stored
                return
            }
            try await announce(stored)
        } else if now.timeIntervalSince(lastLook) >= 5 {
            lastLook = now
            guard let stored = try await runtime.store.conversation(conversation.id, of: principal) else {
                current = nil
                return
            }
            if stored.status != .inProgress { try await announce(stored) }
        }
    }

    /// A conversation is over: it is told so, and what was made of it.
    private func announce(_ conversation: Conversation) async throws {
        current = nil
        repeated = RepeatedSegments([])
        let segments = try await runtime.store.segments(of: conversation.id)
        guard !segments.isEmpty else {
            _ = try await runtime.conversations.process(conversation)
            return
        }
        var processing = conversation
        processing.status = .processing
        try await tell(.processingStarted(EdgeBodies.conversation(processing, segments)))
        var completed = conversation
        if conversation.status == .inProgress {
            completed = try await runtime.conversations.process(conversation) ?? conversation
        }
        let photos = try await runtime.store.photos(of: conversation.id)
        try await tell(.memoryCreated(EdgeBodies.conversation(completed, segments, photos)))
    }

    // MARK: Words

    func take(_ command: EdgeCommand) async throws {
        switch command {
        case .words(let words): try await say([segment(words, by: "edge_asr")], from: "edge_asr")
        case .suggested(let words, let provider):
            guard query.usesCustomRecogniser else { return }
            try await say(words.map { segment($0, by: provider) }, from: "suggested")
        case .assigned(let speaker, let person, _, let ids):
            let isUser = person == "user"
            people[speaker] = (isUser, isUser || person.isEmpty ? nil : person)
            guard let current else { return }
            try await runtime.store.assign(ids, of: current.id, isUser: isUser, person: people[speaker]?.person)
        case .picture(let piece):
            guard let picture = pictures.add(piece) else { return }
            guard let photo = try await runtime.conversations.add(picture, beginning, for: principal) else { return }
            try await tell(.photoProcessing(temporary: piece.id, photo: photo.id))
            try await tell(.photoDescribed(photo.id))
        }
    }

    private func segment(_ words: EdgeCommand.Words, by provider: String) -> ConversationSegment {
        var segment = ConversationSegment(
            id: runtime.identifiers.uuid(), text: words.text, speaker: words.speaker, isUser: words.isUser,
            start: words.start, end: words.end, provider: provider, confidence: words.confidence)
        if let known = people[segment.speakerID] {
            (segment.isUser, segment.personID) = (known.isUser, known.person)
        }
        return segment
    }

    private func say(_ segments: [ConversationSegment], from source: String) async throws {
        let new = segments.flatMap { repeated.take($0) }
        heldSince = repeated.holdsAny ? runtime.clock.now : nil
        try await store(new, from: source)
    }

    /// - Parameter source: for the count.
    private func store(_ segments: [ConversationSegment], from source: String) async throws {
        guard !segments.isEmpty else { return }
        let addition = try await runtime.conversations.add(segments, beginning, for: principal)
        if let before = current, before.id != addition.conversation.id,
            let ended = try await runtime.store.conversation(before.id, of: principal)
        {
            try await announce(ended)
        }
        current = addition.conversation
        runtime.metrics.segmentsAdded(segments.count, from: source)
        try await send(.array(addition.segments.map(EdgeBodies.segment)))
        if addition.isMoreUrgent {
            try await tell(
                .urgencyDetected(
                    addition.conversation.urgency.level,
                    segments: addition.conversation.urgency.reasons.map(\.segment).filter { id in
                        segments.contains { $0.id == id }
                    }))
        }
        for segment in segments {
            guard let name = SpeakerIntroduction.name(in: segment.text) else { continue }
            try await tell(.speakerSuggestion(speaker: segment.speakerID, name: name, segment: segment.id))
        }
    }

    // MARK: Audio

    /// The first sound has come.
    func beginAudio(_ options: LiveOptions) async throws {
        let conversation = try await runtime.conversations.open(beginning, for: principal)
        current = conversation
        audioStart = max(0, runtime.clock.now.timeIntervalSince(conversation.startedAt))
        recording = try await runtime.liveRecordings.open(TransactionID(conversation.id), options, for: principal)
    }

    /// Samples, before they are heard.
    func record(_ samples: ByteBuffer, _ options: LiveOptions) async throws { await recording?.take(samples, options) }

    func heard(_ result: LiveResult, by engine: String) async throws {
        guard result.isFinal, !result.words.isEmpty else { return }
        var turns: [[LiveWord]] = []
        for word in result.words {
            if let last = turns.last?.last, last.speaker == word.speaker {
                turns[turns.count - 1].append(word)
            } else {
                turns.append([word])
            }
        }
        let start = audioStart
        try await store(
            turns.compactMap { turn in
                guard let first = turn.first, let last = turn.last else { return nil }
                let number = min(max(first.speaker ?? 0, 0), 99)
                let words = EdgeCommand.Words(
                    text: turn.map { $0.punctuated ?? $0.text }.joined(separator: " "),
                    speaker: "SPEAKER_\(number < 10 ? "0" : "")\(number)", isUser: false,
                    start: ((start + first.start) * 1000).rounded() / 1000,
                    end: ((start + last.end) * 1000).rounded() / 1000,
                    confidence: turn.reduce(0) { $0 + $1.confidence } / Double(turn.count))
                return segment(words, by: engine)
            }, from: "audio")
        do {
            try await recording?.heard(result)
        } catch ScribeError.invalidState {
            // The conversation that the audio was kept with is over; its words are in the next one.
            recording = nil
        }
    }

    /// The device has gone, and what it has said was heard.
    func endAudio() async throws { try? await recording?.breakOff() }

    // MARK: To the device

    private func tell(_ event: EdgeEvent) async throws { try await send(event.body) }

    private func send(_ body: JSONValue) async throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        try await socket.send(text: String(decoding: try encoder.encode(body), as: UTF8.self))
    }
}
