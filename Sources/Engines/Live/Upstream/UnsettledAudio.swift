import NIOCore

/// What was sent upstream and is not settled yet, to be sent again when the connection breaks.
struct UnsettledAudio {
    enum Entry {
        case audio(ByteBuffer)
        case finalize
    }

    /// In frames, which are samples of all channels.
    private(set) var start = 0
    private(set) var entries: [Entry] = []
    private var size = 0
    private let frameSize: Int
    private let limit: Int

    /// - Parameters:
    ///   - frameSize: in bytes.
    ///   - limit: in frames. When there is more the oldest is given up: it was heard, and never settled.
    init(frameSize: Int, limit: Int) {
        self.frameSize = frameSize
        self.limit = limit * frameSize
    }

    /// - Parameter audio: cut anywhere.
    mutating func append(_ audio: ByteBuffer) {
        entries.append(.audio(audio))
        size += audio.readableBytes
        if size > limit { drop((size - limit + frameSize - 1) / frameSize) }
    }

    /// Asked twice in a row it is one question.
    mutating func appendFinalize() {
        if case .finalize? = entries.last { return }
        entries.append(.finalize)
    }

    /// The oldest question to settle was answered.
    mutating func finalized() {
        let first = entries.firstIndex { if case .finalize = $0 { true } else { false } }
        if let first { entries.remove(at: first) }
    }

    /// What came before that frame is settled.
    mutating func settle(upTo frame: Int) {
        if frame > start { drop(frame - start) }
    }

    private mutating func drop(_ frames: Int) {
        var left = min(frames * frameSize, size / frameSize * frameSize)
        start += left / frameSize
        size -= left
        var passed = 0
        while left > 0, passed < entries.count {
            // A question within what is settled is answered by that.
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
