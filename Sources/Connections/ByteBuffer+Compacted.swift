import NIOCore

extension ByteBuffer {
    /// Copies the bytes into a buffer of their size, if more than half of the present buffer is unused.
    ///
    /// A body sent byte by byte is kept until enough has come to write. Each read allocates thousands of bytes, over
    /// TLS 32 KB.
    var compacted: ByteBuffer {
        storageCapacity > 2 * readableBytes + 1024 ? ByteBuffer(bytes: readableBytesView) : self
    }
}
