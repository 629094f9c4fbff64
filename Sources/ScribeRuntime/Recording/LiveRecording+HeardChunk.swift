import NIOCore
import ScribeDomain

extension LiveRecording {
    /// Error for a chunk whose number or file another socket or client took meanwhile.
    struct NameConflict: Error {}

    /// Stored chunk with a transcript, of one live result or several.
    struct TranscribedChunk {
        let name: String
        /// The ETag of the stored object.
        let eTag: String
        /// The chunk's frames, counted from the start of the stream.
        let frames: Range<Int>
        let audio: ByteBuffer
        /// The words, with times in seconds from the start of the stream.
        let words: [TimedWord]
    }
}
