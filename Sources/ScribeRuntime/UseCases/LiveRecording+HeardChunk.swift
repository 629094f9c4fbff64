import NIOCore
import ScribeDomain

extension LiveRecording {
    /// Another has taken the chunk's number meanwhile.
    struct Taken: Error {}

    /// A stored chunk of one result or several.
    struct HeardChunk {
        let name: String
        /// As it is stored.
        let eTag: String
        /// In frames of the stream.
        let frames: Range<Int>
        let audio: ByteBuffer
        /// In seconds of the stream.
        let words: [TimedWord]
    }
}
