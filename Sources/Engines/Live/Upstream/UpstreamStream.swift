import Basics
import NIOCore
import NIOWebSocket
import Outbound

/// State of one stream to a service across several connections: messages to send, audio without final results, and the
/// start of the current connection.
actor UpstreamStream: LiveSession {
    private let options: LiveOptions
    private let socket: OutboundSocket
    private var unsettled: UnfinalizedAudio
    /// Queue of frames for the current connection; nil without one.
    private var outgoing: BoundedQueue<WebSocketFrame>?
    /// Start of the current connection, in seconds of the stream.
    private var offset = 0.0
    private var isClosing = false
    /// Vocabulary that replaces the options' vocabulary; nil until the client sends one.
    private var vocabulary: [String]?
    private(set) var isOver = false
    private var hasNews = false
    private var failure: (any Error)?
    private var waiting: CheckedContinuation<Void, Never>?
    /// End of the settled part of each channel, in seconds of the stream: results after it are new.
    private var settled: [Int: Double] = [:]
    private var speechStarted: [Int: Double] = [:]

    /// Most bytes on their way to a slow service.
    private static let maxOutgoing = 256 << 10
    private static let longestUnsettled = 60

    init(_ options: LiveOptions, _ socket: OutboundSocket) {
        self.options = options
        self.socket = socket
        unsettled = UnfinalizedAudio(
            frameSize: 2 * options.channels, limit: Self.longestUnsettled * options.sampleRate)
    }

    // MARK: Client input

    func feed(_ audio: ByteBuffer) async throws {
        unsettled.append(audio)
        try await send(socket.frame(.binary, audio))
    }

    /// Replaces the vocabulary, also for later connections.
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

    /// Sends a frame over the current connection. Without one, the call waits for the
    /// next, which gets all unsettled audio.
    private func send(_ frame: WebSocketFrame) async throws {
        if let failure { throw failure }
        if let outgoing {
            // The end of the connection does not end the stream.
            try? await outgoing.add(frame, weight: frame.data.readableBytes)
        } else {
            await withCheckedContinuation { waiting = $0 }
        }
        if let failure { throw failure }
    }

    private func frame(_ message: JSON) -> WebSocketFrame { socket.frame(.text, ByteBuffer(bytes: message.bytes)) }

    // MARK: Connection

    /// Begins a connection: unsettled audio goes first.
    func connected() -> BoundedQueue<WebSocketFrame> {
        offset = Double(unsettled.start) / Double(options.sampleRate)
        var frames = unsettled.entries.map { entry in
            switch entry {
            case .audio(let audio): socket.frame(.binary, audio)
            case .finalize: frame(["type": "Finalize"])
            }
        }
        if let vocabulary { frames.insert(vocabularyFrame(vocabulary), at: 0) }
        if isClosing { frames.append(frame(["type": "CloseStream"])) }
        let queue = BoundedQueue(limit: Self.maxOutgoing, frames)
        outgoing = queue
        release()
        return queue
    }

    func disconnected() async {
        await outgoing?.finish()
        outgoing = nil
    }

    /// Fails the stream: the client takes no more results.
    func failed(_ error: any Error) async {
        failure = error
        await disconnected()
        release()
    }

    private func release() {
        waiting?.resume()
        waiting = nil
    }

    /// Sends keep-alive messages to the service.
    func keepAlive(_ queue: BoundedQueue<WebSocketFrame>) async {
        try? await queue.add(frame(["type": "KeepAlive"]))
        try? await queue.add(socket.frame(.ping))
    }

    // MARK: Service messages

    /// Converts a message of the service to an event; nil if it brings nothing new.
    func event(for message: DeepgramLiveMessage) -> LiveEvent? {
        let channel = message.channel
        guard (0..<(options.multichannel ? options.channels : 1)).contains(channel) else { return nil }
        switch message.kind {
        case .metadata:
            // Some services greet with metadata and report a duration of 0.
            isOver = isClosing && (message.duration > 0 || unsettled.entries.isEmpty)
            return nil
        case .speechStarted:
            let time = (offset + message.time).inThousandths
            guard options.vadEvents, time > speechStarted[channel] ?? -1 else { return nil }
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

    /// Whether a result has arrived since the last call.
    func takesNews() -> Bool {
        defer { hasNews = false }
        return hasNews
    }

    private func result(_ message: DeepgramLiveMessage, _ channel: Int) -> LiveEvent? {
        guard message.isFinal || options.interimResults else { return nil }
        let known = settled[channel] ?? 0
        let end = max(known, (offset + message.start + message.duration).inThousandths)
        let start = max(known, (offset + message.start).inThousandths)
        let words = (message.alternative?.words?.value ?? []).compactMap { word -> LiveWord? in
            // If channels are settled to different places, one channel gets audio again that another still needs.
            guard offset + (word.start + word.end) / 2 >= known else { return nil }
            return LiveWord(
                text: word.word, punctuated: options.punctuate ? word.punctuated ?? word.word : nil,
                start: (offset + word.start).inThousandths, end: (offset + word.end).inThousandths,
                confidence: min(max(word.confidence?.value ?? message.alternative?.confidence?.value ?? 0, 0), 1),
                speaker: options.diarize ? word.speaker?.value ?? 0 : nil, language: word.language?.value)
        }
        if message.isFinal {
            settled[channel] = end
            if message.fromFinalize { unsettled.finalized() }
            let count = options.multichannel ? options.channels : 1
            let least = (0..<count).map { settled[$0] ?? 0 }.min() ?? 0
            unsettled.settle(upTo: Int(saturating: (least * Double(options.sampleRate)).rounded()))
        }
        return .result(
            LiveResult(
                channel: channel, start: start, duration: (end - start).inThousandths, words: words,
                isFinal: message.isFinal, speechFinal: message.speechFinal, fromFinalize: message.fromFinalize))
    }

    /// Notes that the service closed the connection normally; this ends a closing stream.
    func ended() { isOver = isClosing }
}
