import Engines
import NIOCore
import ScribeHTTP

/// Decodes a client's byte stream into 16-bit PCM samples, across arbitrary message boundaries.
struct ListenAudio {
    private enum State {
        /// The bytes of the header have not all arrived.
        case header
        case samples
        /// Compressed audio, which the live engine decodes itself.
        case encoded
    }

    private(set) var options: LiveOptions
    private var encoding: ListenQuery.Encoding
    private var state: State
    private var pending = ByteBuffer()
    private var header = WaveHeaderParser()
    /// Samples per channel so far.
    private(set) var sampleCount = 0
    private var oddBytes = 0

    init(_ query: ListenQuery) {
        options = query.options
        encoding = query.encoding
        state = query.isContainer ? .header : options.codec == nil ? .samples : .encoded
    }

    /// Duration of the audio so far, in seconds.
    var duration: Double { Double(sampleCount) / Double(options.sampleRate) }

    /// Decodes the next bytes into samples; nil until the header is complete.
    /// - Throws: ``WebSocketClosure`` for bytes that are no supported audio.
    mutating func decode(_ buffer: ByteBuffer) throws(WebSocketClosure) -> ByteBuffer? {
        pending.discardReadBytes()
        pending.writeImmutableBuffer(buffer)
        if case .header = state {
            guard try readHeader() else { return nil }
            state = options.codec == nil ? .samples : .encoded
        }
        if case .encoded = state {
            defer { pending = ByteBuffer() }
            return pending
        }
        let samples = takeSamples()
        let bytes = samples.readableBytes + oddBytes
        sampleCount += bytes / (2 * options.channels)
        oddBytes = bytes % (2 * options.channels)
        return samples
    }

    /// Counts samples that the engine decoded from compressed audio.
    mutating func count(decoded bytes: Int) { sampleCount += bytes / (2 * options.channels) }

    private mutating func takeSamples() -> ByteBuffer {
        switch encoding {
        case .linear16:
            defer { pending = ByteBuffer() }
            return pending
        case .mulaw, .alaw:
            var samples = ByteBuffer()
            samples.reserveCapacity(pending.readableBytes * 2)
            let table = encoding == .mulaw ? Self.mulaw : Self.alaw
            for byte in pending.readableBytesView {
                samples.writeInteger(table[Int(byte)], endianness: .little)
            }
            pending.clear()
            return samples
        case .linear32:
            var samples = ByteBuffer()
            while let sample = pending.readInteger(endianness: .little, as: Int32.self) {
                samples.writeInteger(Int16(truncatingIfNeeded: sample >> 16), endianness: .little)
            }
            return samples
        }
    }

    /// Parses as much of the header as has arrived.
    /// - Returns: false if more bytes are needed.
    private mutating func readHeader() throws(WebSocketClosure) -> Bool {
        guard let bytes = pending.getBytes(at: pending.readerIndex, length: StreamCodec.signatureSize) else {
            return false
        }
        if DecodingLiveEngine.isAvailable, let codec = StreamCodec(signature: bytes) {
            options.codec = codec
            return true
        }
        guard header.parse(pending.readableBytesView) else { throw Self.undecodable }
        if let format = header.format { try take(format) }
        guard let start = header.start else { return false }
        pending.moveReaderIndex(forwardBy: start)
        return true
    }

    private mutating func take(_ format: WaveHeaderParser.Format) throws(WebSocketClosure) {
        guard (1...8).contains(format.channels), (8000...48_000).contains(format.sampleRate) else {
            throw Self.undecodable
        }
        switch (format.code, format.bits) {
        case (1, 16), (0xFFFE, 16): encoding = .linear16
        case (1, 32), (0xFFFE, 32): encoding = .linear32
        case (7, 8): encoding = .mulaw
        case (6, 8): encoding = .alaw
        default: throw Self.undecodable
        }
        options.channels = format.channels
        options.sampleRate = format.sampleRate
    }

    /// Closes a socket whose payload is not decodable audio (streaming.md 1.7).
    static let undecodable = WebSocketClosure(1008, "DATA-0000: The payload cannot be decoded as audio")

    private static let mulaw: [Int16] = (0..<256).map { byte in
        let value = ~UInt8(byte)
        let magnitude = ((Int(value & 0x0F) << 3) + 0x84) << Int((value & 0x70) >> 4) - 0x84
        return Int16(value & 0x80 != 0 ? -magnitude : magnitude)
    }

    private static let alaw: [Int16] = (0..<256).map { byte in
        let value = UInt8(byte) ^ 0x55
        let exponent = Int((value & 0x70) >> 4)
        var magnitude = Int(value & 0x0F) << 4 + 8
        if exponent > 0 { magnitude = (magnitude + 0x100) << (exponent - 1) }
        return Int16(value & 0x80 != 0 ? magnitude : -magnitude)
    }
}
