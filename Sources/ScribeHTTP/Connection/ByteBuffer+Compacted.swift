import NIOCore

extension ByteBuffer {
    /// The same bytes in room of their own size, where most of what they have is unused: a body that comes by the byte is
    /// kept until there is enough of it to write, and each read brings room for thousands, over TLS for 32 KB.
    var compacted: ByteBuffer {
        storageCapacity > 2 * readableBytes + 1024 ? ByteBuffer(bytes: readableBytesView) : self
    }
}
