import NIOCore

/// Audio sent upstream without final results yet, to be sent again if the connection breaks.
struct UnfinalizedAudio {
    enum Entry {
        case audio(ByteBuffer)
        case finalize
    }

    /// Start of the kept audio in frames; a frame is one sample of each channel.
    private(set) var start = 0
    private(set) var entries: [Entry] = []
    private var size = 0
    private let frameSize: Int
    private let limit: Int

    /// Creates an empty store.
    /// - Parameters:
    ///   - frameSize: in bytes.
    ///   - limit: in frames. Beyond the limit the oldest audio is dropped: the service gave no final result.
    init(frameSize: Int, limit: Int) {
        self.frameSize = frameSize
        self.limit = limit * frameSize
    }

    /// Appends audio that was sent.
    /// - Parameter audio: cut anywhere.
    mutating func append(_ audio: ByteBuffer) {
        entries.append(.audio(audio))
        size += audio.readableBytes
        if size > limit { drop((size - limit + frameSize - 1) / frameSize) }
    }

    /// Appends a finalize request; two requests in a row count as one.
    mutating func appendFinalize() {
        if case .finalize? = entries.last { return }
        entries.append(.finalize)
    }

    /// Removes the oldest finalize request, which was answered.
    mutating func finalized() {
        let first = entries.firstIndex { if case .finalize = $0 { true } else { false } }
        if let first { entries.remove(at: first) }
    }

    /// Drops the audio before a frame, because its results are final.
    mutating func settle(upTo frame: Int) {
        if frame > start { drop(frame - start) }
    }

    private mutating func drop(_ frames: Int) {
        var left = min(frames * frameSize, size / frameSize * frameSize)
        start += left / frameSize
        size -= left
        var passed = 0
        while left > 0, passed < entries.count {
            // A finalize request within settled audio counts as answered.
            guard case .audio(var audio) = entries[passed] else {
                passed += 1
                continue
            }
            guard audio.readableBytes > left else {
                left -= audio.readableBytes
                passed += 1
                continue
            }
            audio.moveReaderIndex(forwardBy: left)
            entries[passed] = .audio(audio)
            left = 0
        }
        entries.removeFirst(passed)
    }
}
