import NIOCore
import SystemPackage

/// An open file of an object: it can be read to the end even when the object is replaced or deleted meanwhile.
final class FileObjectReader: ObjectReader {
    /// How much is read at a time.
    private static let pieceSize = 128 * 1024

    private let descriptor: SystemPackage.FileDescriptor
    private let files: ObjectFiles

    init(descriptor: SystemPackage.FileDescriptor, files: ObjectFiles) {
        self.descriptor = descriptor
        self.files = files
    }

    deinit { try? descriptor.close() }

    /// The bytes of `range` from its beginning on, as many as are read at a time; empty at the end of the file.
    func read(_ range: Range<Int>) async throws -> ByteBuffer {
        let descriptor = descriptor
        let count = min(range.count, Self.pieceSize)
        return try await files.blocking {
            var buffer = ByteBuffer()
            try buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: count) { memory in
                try descriptor.read(
                    fromAbsoluteOffset: Int64(range.lowerBound),
                    into: UnsafeMutableRawBufferPointer(rebasing: memory[..<count])
                )
            }
            return buffer
        }
    }
}
