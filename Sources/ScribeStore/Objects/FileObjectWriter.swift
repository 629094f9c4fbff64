import Crypto
import Foundation
import NIOCore
import NIOPosix
import SystemPackage

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// Writes one upload to its file as it arrives, and hashes it on the way. Used by one task, which ends it with
/// ``finish()`` or ``discard()``.
struct FileObjectWriter: ObjectWriter {
    private struct Digests: Sendable {
        var md5 = Insecure.MD5()
        var checksums: [ChecksumAlgorithm: RunningChecksum]
        var size = 0
    }

    /// How much is gathered before a thread is asked to write it.
    private static let batchSize = 256 * 1024

    private let path: String
    private let files: ObjectFiles
    /// Opened with the first bytes: a small upload is opened, written, hashed and closed on one thread in one go.
    private var descriptor: SystemPackage.FileDescriptor?
    private var digests: Digests
    /// Nil where nothing limits how much is stored.
    private let arriving: ArrivingFile?
    private var pending: [ByteBuffer] = []
    private var pendingBytes = 0

    init(path: String, checksums: Set<ChecksumAlgorithm>, files: ObjectFiles, arriving: ArrivingFile? = nil) {
        self.arriving = arriving
        self.path = path
        self.files = files
        digests = Digests(
            checksums: Dictionary(uniqueKeysWithValues: checksums.map { ($0, RunningChecksum($0)) })
        )
    }

    /// Takes the next bytes. Returns when they, or a batch before them, are written: this is the back-pressure.
    /// - Throws: ``ScribeError/storageQuotaExceeded``, what the system says.
    mutating func write(_ buffer: ByteBuffer) async throws {
        try arriving?.receive(buffer.readableBytes)
        pending.append(buffer)
        pendingBytes += buffer.readableBytes
        if pendingBytes >= Self.batchSize { try await flush() }
    }

    /// Takes the bytes of another file, a piece at a time.
    mutating func append(contentsOf path: String) async throws {
        let files = files
        let source = try await files.blocking {
            try SystemPackage.FileDescriptor.open(FilePath(path), .readOnly, options: .closeOnExec)
        }
        defer { try? source.close() }
        while true {
            let piece = try await files.blocking {
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
    mutating func finish() async throws -> WrittenObject {
        let isBrief = descriptor == nil && pendingBytes <= files.durability.atOnce
        let write = takePending()
        let (path, files, open) = (path, files, descriptor)
        // A closed descriptor's number may already be another file's.
        descriptor = nil
        digests = try await files.blocking(isBrief: isBrief) {
            let descriptor = try open ?? Self.open(path)
            return try descriptor.closeAfter {
                let digests = try write(descriptor)
                if files.durability == .full {
                    guard fsync(descriptor.rawValue) == 0 else { throw Errno(rawValue: errno) }
                    try files.syncFolder(of: path)
                }
                return digests
            }
        }
        return WrittenObject(
            size: digests.size, md5: digests.md5.finalize(), checksums: digests.checksums.mapValues { $0.finalize() }
        )
    }

    /// Closes and removes the file. After ``finish()`` it removes it.
    func discard() async {
        let (path, descriptor) = (path, descriptor)
        await files.cleanUp {
            try? descriptor?.close()
            unlink(path)
        }
    }

    private mutating func flush() async throws {
        let write = takePending()
        let (path, open) = (path, descriptor)
        (descriptor, digests) = try await files.blocking {
            let descriptor = try open ?? Self.open(path)
            do {
                return (descriptor, try write(descriptor))
            } catch {
                // What was opened here is known to nobody else yet.
                if open == nil { try? descriptor.close() }
                throw error
            }
        }
    }

    /// What is pending, as work for a thread that may block.
    private mutating func takePending() -> @Sendable (SystemPackage.FileDescriptor) throws -> Digests {
        let (batch, before) = (pending, digests)
        pending.removeAll(keepingCapacity: true)
        pendingBytes = 0
        return { descriptor in
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

    private static func open(_ path: String) throws -> SystemPackage.FileDescriptor {
        let open = {
            try SystemPackage.FileDescriptor.open(
                FilePath(path), .writeOnly, options: [.create, .exclusiveCreate, .closeOnExec],
                permissions: .ownerReadWrite
            )
        }
        do {
            return try open()
        } catch Errno.noSuchFileOrDirectory {
            // One of 256 folders, made with its first file.
            let parent = (path as NSString).deletingLastPathComponent
            if mkdir(parent, 0o700) != 0, errno != EEXIST { throw Errno(rawValue: errno) }
            return try open()
        }
    }
}
