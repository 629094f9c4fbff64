import NIOCore
import NIOPosix
import SystemPackage

/// Bytes of a file in pieces, read on threads that may block.
struct FileChunks: AsyncSequence, Sendable {
    private static let size = 128 << 10

    let path: String
    let files: NIOThreadPool

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(path: path, files: files) }

    struct AsyncIterator: AsyncIteratorProtocol {
        let path: String
        let files: NIOThreadPool
        var offset: Int64 = 0

        mutating func next() async throws -> ByteBuffer? {
            let (path, offset) = (path, offset)
            let piece = try await files.runIfActive {
                // The file is opened for each piece, so that an abandoned iteration leaves no file open.
                let file = try SystemPackage.FileDescriptor.open(FilePath(path), .readOnly, options: .closeOnExec)
                return try file.closeAfter {
                    let bytes = try [UInt8](unsafeUninitializedCapacity: FileChunks.size) { buffer, count in
                        count = try file.read(fromAbsoluteOffset: offset, into: UnsafeMutableRawBufferPointer(buffer))
                    }
                    return ByteBuffer(bytes: bytes)
                }
            }
            self.offset += Int64(piece.readableBytes)
            return piece.readableBytes == 0 ? nil : piece
        }
    }
}
