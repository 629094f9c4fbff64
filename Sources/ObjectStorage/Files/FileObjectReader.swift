package import NIOCore
package import NIOPosix
import SystemPackage

/// Reader of an object's file. It reads to the end even when the object is replaced or deleted meanwhile.
package final class FileObjectReader: ObjectReader {
    private let descriptor: SystemPackage.FileDescriptor
    private let pieceSize: Int
    private let threads: NIOThreadPool

    /// Opens a file. Blocking.
    /// - Parameter pieceSize: maximum size of one read, in bytes.
    /// - Throws: `Errno`.
    package init(_ path: String, pieceSize: Int = 128 << 10, on threads: NIOThreadPool) throws {
        descriptor = try .open(FilePath(path), .readOnly, options: .closeOnExec)
        self.pieceSize = pieceSize
        self.threads = threads
    }

    deinit { try? descriptor.close() }

    /// Reads from the beginning of `range`, at most one piece; empty at the end of the file.
    package func read(_ range: Range<Int>) async throws -> ByteBuffer {
        let count = min(range.count, pieceSize)
        return try await threads.runIfActive { [descriptor] in
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
