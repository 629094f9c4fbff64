package import Crypto
import Glibc
package import NIOCore
import NIOPosix
import SystemPackage

/// Writes one upload to its file as it arrives, and hashes it on the way. Used by one task, which ends it with
/// ``finish()`` or ``discard()``.
package struct ObjectWriter: Sendable {
    /// What was written.
    package struct Summary: Sendable {
        /// In bytes.
        package let size: Int
        package let md5: Insecure.MD5Digest
        /// Those that were asked for, in network byte order.
        package let checksums: [ChecksumAlgorithm: [UInt8]]
    }

    private struct Digests: Sendable {
        var md5 = Insecure.MD5()
        var checksums: [ChecksumAlgorithm: RunningChecksum]
        var size = 0
    }

    /// How much is gathered before a thread is asked to write it.
    private static let batchSize = 256 * 1024

    private let path: String
    private let descriptor: SystemPackage.FileDescriptor
    private let files: ObjectFiles
    private var digests: Digests
    private var pending: [ByteBuffer] = []
    private var pendingBytes = 0
    /// A closed descriptor's number may already be another file's.
    private var isClosed = false

    init(
        path: String, descriptor: SystemPackage.FileDescriptor, checksums: Set<ChecksumAlgorithm>, files: ObjectFiles
    ) {
        self.path = path
        self.descriptor = descriptor
        self.files = files
        digests = Digests(
            checksums: Dictionary(uniqueKeysWithValues: checksums.map { ($0, RunningChecksum($0)) })
        )
    }

    /// Takes the next bytes. Returns when they, or a batch before them, are written: this is the back-pressure.
    package mutating func write(_ buffer: ByteBuffer) async throws {
        pending.append(buffer)
        pendingBytes += buffer.readableBytes
        if pendingBytes >= Self.batchSize { try await flush() }
    }

    /// Takes the bytes of another file, a piece at a time.
    mutating func append(contentsOf path: String) async throws {
        let pool = files.pool
        let source = try await pool.runIfActive {
            try SystemPackage.FileDescriptor.open(FilePath(path), .readOnly, options: .closeOnExec)
        }
        defer { try? source.close() }
        while true {
            let piece = try await pool.runIfActive {
                var buffer = ByteBuffer()
                try buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: Self.batchSize) {
                    try source.read(into: $0)
                }
                return buffer
            }
            guard piece.readableBytes > 0 else { return }
            try await write(piece)
        }
    }

    /// Writes what is left and closes the file; under ``Store/Durability/full`` it is on the disk then.
    package mutating func finish() async throws -> Summary {
        try await flush()
        let (path, descriptor, files) = (path, descriptor, files)
        isClosed = true
        try await files.pool.runIfActive {
            try descriptor.closeAfter {
                if files.durability == .full, fsync(descriptor.rawValue) != 0 { throw Errno(rawValue: errno) }
            }
            if files.durability == .full { try files.syncFolder(of: path) }
        }
        return Summary(
            size: digests.size, md5: digests.md5.finalize(), checksums: digests.checksums.mapValues { $0.finalize() }
        )
    }

    /// Closes and removes the file. After ``finish()`` it removes it.
    package func discard() async {
        let (path, descriptor, isClosed) = (path, descriptor, isClosed)
        _ = try? await files.pool.runIfActive {
            if !isClosed { try? descriptor.close() }
            unlink(path)
        }
    }

    private mutating func flush() async throws {
        guard !pending.isEmpty else { return }
        let batch = pending
        let before = digests
        let descriptor = descriptor
        pending.removeAll(keepingCapacity: true)
        pendingBytes = 0
        digests = try await files.pool.runIfActive {
            var digests = before
            for buffer in batch {
                try buffer.withUnsafeReadableBytes { bytes in
                    _ = try descriptor.writeAll(bytes)
                    digests.md5.update(bufferPointer: bytes)
                    for algorithm in digests.checksums.keys { digests.checksums[algorithm]?.update(bytes) }
                    digests.size += bytes.count
                }
            }
            return digests
        }
    }
}
