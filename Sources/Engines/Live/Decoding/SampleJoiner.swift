package import NIOCore

/// Joins the pieces of a byte stream into whole 16-bit samples. The first byte of a split sample waits for the second.
package struct SampleJoiner: Sendable {
    private var half: UInt8?

    package init() {}

    /// Whether no half sample waits.
    package var isWhole: Bool { half == nil }

    /// Adds a piece of the stream.
    /// - Returns: the samples that are complete now; nil for none.
    package mutating func take(_ bytes: ByteBuffer) -> ByteBuffer? {
        var samples = ByteBuffer()
        if let half { samples.writeInteger(half) }
        half = nil
        samples.writeImmutableBuffer(bytes)
        if samples.readableBytes % 2 == 1 {
            half = samples.getInteger(at: samples.writerIndex - 1)
            samples.moveWriterIndex(to: samples.writerIndex - 1)
        }
        return samples.readableBytes > 0 ? samples : nil
    }
}
