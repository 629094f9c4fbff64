import NIOCore

/// Exchange of a journal: one that is being recorded, or one that has ended.
package struct RecordedExchange: Sendable {
    enum Content: Sendable {
        case record(JournalRecord)
        /// Bytes of a ``PackedExchange``.
        case packed(ByteBuffer, RepeatedAnswer?)
    }

    let content: Content

    /// The exchange as it is now. It is made anew each time.
    package var exchange: Exchange {
        switch content {
        case .record(let record): record.exchange
        case .packed(let bytes, let repeated): Exchange(packed: bytes, repeated: repeated)
        }
    }
}
