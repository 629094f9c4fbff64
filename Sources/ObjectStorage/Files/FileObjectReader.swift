import NIOCore
import SystemPackage

/// Reader of an object's file. It reads to the end even when the object is replaced or deleted meanwhile.
final class FileObjectReader: ObjectReader {
    /// Maximum size of one read, in bytes.
    private static let pieceSize = 128 * 1024

    private let descriptor: SystemPackage.FileDescriptor
    private let files: ObjectFiles

    init(descriptor: SystemPackage.FileDescriptor, files: ObjectFiles) {
        self.descriptor = descriptor
        self.files = files
    }

    deinit { try? descriptor.close() }

    /// Reads from the beginning of `range`, at most one piece; empty at the end of the file.
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
