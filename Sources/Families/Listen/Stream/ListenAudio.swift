import Connections
import Engines
import Foundation
import NIOCore
import ScribeHTTP

/// Decodes a client's byte stream into 16-bit PCM samples, across arbitrary message boundaries.
struct ListenAudio {
    private enum State {
        /// The bytes of the header have not all arrived.
        case header
        /// Too few bytes have arrived to tell a container from the named format.
        case undecided
        case samples
        /// Compressed audio, which the live engine decodes itself.
        case encoded
    }

    private(set) var options: LiveOptions
    private var format: SampleFormat
    private var state: State
    private var pending = ByteBuffer()
    private var header = WaveHeaderParser()
    /// Number of bytes from which the beginning is read again.
    private var nextReading = StreamCodec.signatureSize
    /// Samples per channel so far.
    private(set) var sampleCount = 0
    private var oddBytes = 0

    init(_ query: ListenQuery) {
        options = query.options
        format = query.encoding.format
        state = query.isContainer ? .header : .undecided
    }

    /// Duration of the audio so far, in seconds.
    var duration: Double { Double(sampleCount) / Double(options.sampleRate) }

    /// Decodes the next bytes into samples; nil until the format is known.
    /// - Throws: ``WebSocketClosure`` for bytes that are no supported audio.
    mutating func decode(_ buffer: ByteBuffer) throws(WebSocketClosure) -> ByteBuffer? {
        pending.discardReadBytes()
        pending.writeImmutableBuffer(buffer)
        if case .undecided = state {
            // A packet is a message of its own, however short.
            guard pending.readableBytes >= StreamCodec.signatureSize || options.codec == .opus else { return nil }
            let bytes = Array(pending.readableBytesView.prefix(StreamCodec.signatureSize))
            guard StreamCodec(container: bytes) != nil || WaveHeaderParser.isWave(bytes) else {
                return try decodeUndecided()
            }
            state = .header
        }
        if case .header = state {
            guard try readHeader() else { return nil }
            state = options.codec == nil ? .samples : .encoded
        }
        return takePending()
    }

    /// Decodes the bytes in hand as the named format, or as MP3 behind its tags: no further ones come that could make
    /// them a container.
    /// - Returns: nil without such bytes.
    /// - Throws: ``WebSocketClosure`` for zeros without a file behind them.
    mutating func decodeUndecided() throws(WebSocketClosure) -> ByteBuffer? {
        switch state {
        case .undecided where pending.readableBytes > 0: break
        case .header where pending.readableBytesView.starts(with: "ID3".utf8): options.codec = .mp3
        case .header where pending.readableBytes >= StreamCodec.signatureSize && pending.readableBytesView.first == 0:
            throw Self.undecodable
        case .undecided, .header, .samples, .encoded: return nil
        }
        state = options.codec == nil ? .samples : .encoded
        return takePending()
    }

    private mutating func takePending() -> ByteBuffer {
        if case .encoded = state {
            defer { pending = ByteBuffer() }
            return pending
        }
        let samples = format.takeSamples(from: &pending)
        let bytes = samples.readableBytes + oddBytes
        sampleCount += bytes / (2 * options.channels)
        oddBytes = bytes % (2 * options.channels)
        return samples
    }

    /// Counts samples that the engine decoded from compressed audio.
    mutating func count(decoded bytes: Int) { sampleCount += bytes / (2 * options.channels) }

    /// Parses as much of the header as has arrived.
    /// - Returns: false if more bytes are needed.
    private mutating func readHeader() throws(WebSocketClosure) -> Bool {
        guard skipBeginning(),
            let bytes = pending.getBytes(at: pending.readerIndex, length: StreamCodec.signatureSize)
        else { return false }
        // Only MP3 has its first frame behind zeros that belong to it.
        let codec = StreamCodec(signature: bytes) ?? (bytes.first == 0 ? .mp3 : nil)
        if FFmpeg.isInstalled, let codec {
            options.codec = codec
            return true
        }
        options.codec = nil
        guard header.parse(pending.readableBytesView) else { throw Self.undecodable }
        if let format = header.format { try take(format) }
        guard let start = header.start else { return false }
        pending.moveReaderIndex(forwardBy: start)
        return true
    }

    /// Skips the zeros or tags that recorders leave before a file.
    /// - Returns: false if more bytes are needed.
    private mutating func skipBeginning() -> Bool {
        let bytes = pending.readableBytesView
        guard bytes.first == 0 || bytes.starts(with: "ID3".utf8) else { return true }
        // Read again only when twice as many bytes have come, which costs as much as one reading.
        guard bytes.count >= nextReading else { return false }
        nextReading = min(2 * bytes.count, AudioFormat.maxZeros + 1)
        if let start = AudioFormat.start(ofFileBeginning: Data(bytes)) {
            pending.moveReaderIndex(forwardBy: start)
            return true
        }
        // Longer tags are those of MP3, with pictures.
        return bytes.count > AudioFormat.maxZeros
    }

    private mutating func take(_ format: WaveHeaderParser.Format) throws(WebSocketClosure) {
        guard (1...8).contains(format.channels), (4000...192_000).contains(format.sampleRate),
            let samples = SampleFormat(format)
        else { throw Self.undecodable }
        self.format = samples
        options.channels = format.channels
        options.sampleRate = format.sampleRate
    }

    /// Closes a socket for a payload that is no decodable audio (streaming.md 1.7).
    static let undecodable = WebSocketClosure(1008, "DATA-0000: The payload cannot be decoded as audio")
}
