import NIOCore
import NIOWebSocket
import ScribeDomain

/// One stream on its way to a service over one connection after the other: what must be sent, what is not settled yet, and
/// where the present connection began.
actor UpstreamConversation {
    private let options: LiveOptions
    private let socket: UpstreamSocket
    private var unsettled: UnsettledAudio
    /// Of the present connection.
    private var outgoing: LiveQueue<WebSocketFrame>?
    /// In seconds of the stream: where the present connection's zero is.
    private var offset = 0.0
    private var isClosing = false
    /// The vocabulary that replaces the options'; nil until then.
    private var vocabulary: [String]?
    private(set) var isOver = false
    private var hasNews = false
    private var failure: (any Error)?
    private var waiting: CheckedContinuation<Void, Never>?
    /// For each channel, in seconds of the stream: what is behind these was told already.
    private var settled: [Int: Double] = [:]
    private var speechStarted: [Int: Double] = [:]

    /// In bytes: so much may be on its way to a service that is slow to take it.
    private static let mostOutgoing = 256 << 10
    private static let longestUnsettled = 60

    init(_ options: LiveOptions, _ socket: UpstreamSocket) {
        self.options = options
        self.socket = socket
        unsettled = UnsettledAudio(
            frameSize: 2 * options.channels, limit: Self.longestUnsettled * options.sampleRate)
    }

    // MARK: What the client says

    func feed(_ audio: ByteBuffer) async throws {
        unsettled.append(audio)
        try await send(socket.frame(.binary, audio))
    }

    /// Later connections are told, too.
    func expect(_ words: [String]) async throws {
        vocabulary = words
        try await send(vocabularyFrame(words))
    }

    private func vocabularyFrame(_ words: [String]) -> WebSocketFrame {
        frame(["type": "Configure", "keyterms": .array(words, JSON.string)])
    }

    func finalize() async throws {
        unsettled.appendFinalize()
        try await send(frame(["type": "Finalize"]))
    }

    func close() async throws {
        isClosing = true
        try await send(frame(["type": "CloseStream"]))
    }

    /// Sends over the present connection; where there is none, waits for the next, which gets all that is not settled.
    private func send(_ frame: WebSocketFrame) async throws {
        if let failure { throw failure }
        if let outgoing {
            // Its end is none of the stream's.
            try? await outgoing.add(frame, weight: frame.data.readableBytes)
        } else {
            await withCheckedContinuation { waiting = $0 }
        }
        if let failure { throw failure }
    }

    private func frame(_ message: JSON) -> WebSocketFrame { socket.frame(.text, ByteBuffer(bytes: message.bytes)) }

    // MARK: The connection

    /// A connection is there: what is not settled goes first.
    func connected() -> LiveQueue<WebSocketFrame> {
        offset = Double(unsettled.start) / Double(options.sampleRate)
        var frames = unsettled.entries.map { entry in
            switch entry {
            case .audio(let audio): socket.frame(.binary, audio)
            case .finalize: frame(["type": "Finalize"])
            }
        }
        if let vocabulary { frames.insert(vocabularyFrame(vocabulary), at: 0) }
        if isClosing { frames.append(frame(["type": "CloseStream"])) }
        let queue = LiveQueue(limit: Self.mostOutgoing, frames)
        outgoing = queue
        release()
        return queue
    }

    func disconnected() async {
        await outgoing?.finish()
        outgoing = nil
    }

    /// Nobody listens any more.
    func failed(_ error: any Error) async {
        failure = error
        await disconnected()
        release()
    }

    private func release() {
        waiting?.resume()
        waiting = nil
    }

    /// Says that somebody is still there.
    func keepAlive(_ queue: LiveQueue<WebSocketFrame>) async {
        try? await queue.add(frame(["type": "KeepAlive"]))
        try? await queue.add(socket.frame(.ping))
    }

    // MARK: What the service says

    /// - Returns: what of it is news.
    func hear(_ message: DeepgramLiveMessage) -> LiveEvent? {
        let channel = message.channel
        guard (0..<(options.hearsEachChannel ? options.channels : 1)).contains(channel) else { return nil }
        switch message.kind {
        case .metadata:
            // Some greet with it, and say then that nothing was heard.
            isOver = isClosing && (message.duration > 0 || unsettled.entries.isEmpty)
            return nil
        case .speechStarted:
            let time = (offset + message.time).inThousandths
            guard options.tellsSpeech, time > speechStarted[channel] ?? -1 else { return nil }
            speechStarted[channel] = time
            return .speechStarted(channel: channel, at: time)
        case .utteranceEnd:
            guard options.utteranceEnd != nil else { return nil }
            let end = message.time < 0 ? -1 : (offset + message.time).inThousandths
            return .utteranceEnd(channel: channel, lastWordEnd: end)
        case .results:
            hasNews = true
            return result(message, channel)
        }
    }

    /// Whether a result was heard since this was asked last.
    func takesNews() -> Bool {
        defer { hasNews = false }
        return hasNews
    }

    private func result(_ message: DeepgramLiveMessage, _ channel: Int) -> LiveEvent? {
        guard message.isFinal || options.tellsInterims else { return nil }
        let known = settled[channel] ?? 0
        let end = max(known, (offset + message.start + message.duration).inThousandths)
        let start = max(known, (offset + message.start).inThousandths)
        let words = (message.alternative?.words?.value ?? []).compactMap { word -> LiveWord? in
            // Where channels are settled to different places, one hears again what another still needs.
            guard offset + (word.start + word.end) / 2 >= known else { return nil }
            return LiveWord(
                text: word.word, punctuated: options.punctuates ? word.punctuated ?? word.word : nil,
                start: (offset + word.start).inThousandths, end: (offset + word.end).inThousandths,
                confidence: min(max(word.confidence?.value ?? message.alternative?.confidence?.value ?? 0, 0), 1),
                speaker: options.tellsSpeakers ? word.speaker?.value ?? 0 : nil, language: word.language?.value)
        }
        if message.isFinal {
            settled[channel] = end
            if message.fromFinalize { unsettled.finalized() }
            let count = options.hearsEachChannel ? options.channels : 1
            let least = (0..<count).map { settled[$0] ?? 0 }.min() ?? 0
            unsettled.settle(upTo: Int((least * Double(options.sampleRate)).rounded()))
        }
        return .result(
            LiveResult(
                channel: channel, start: start, duration: (end - start).inThousandths, words: words,
                isFinal: message.isFinal, endsSpeech: message.speechFinal, isAnswerToFinalize: message.fromFinalize))
    }

    /// The service has ended the stream as it was asked to.
    func ended() { isOver = isClosing }
}
