import Basics
import Crypto
import Foundation
import NIOCore
import NIOPosix
import SystemPackage

/// Writer of one upload: writes its file and hashes the bytes as they arrive. A small upload stays in memory as well.
/// One task uses the writer.
struct FileObjectWriter: ObjectWriter {
    private struct Digests: Sendable {
        var md5 = Insecure.MD5()
        var checksums: [ChecksumAlgorithm: RunningChecksum]
        var size = 0

        mutating func update(_ bytes: UnsafeRawBufferPointer) {
            md5.update(bufferPointer: bytes)
            for algorithm in checksums.keys { checksums[algorithm]?.update(bytes) }
            size += bytes.count
        }

        var written: WrittenObject {
            WrittenObject(size: size, md5: md5.finalize(), checksums: checksums.mapValues { $0.finalize() })
        }
    }

    /// Size that a batch exceeds before a thread writes it, in bytes.
    private static let batchSize = ReceivedBytes.largest

    private let name: String
    private let path: String
    private let files: ObjectFiles
    private let received: ReceivedBytes?
    /// Descriptor of the open file. The file is opened with the first batch, so that a small upload is opened, written,
    /// hashed and closed on one thread in one call.
    private var descriptor: SystemPackage.FileDescriptor?
    private var digests: Digests
    /// Count of the received bytes towards the quota; nil without a quota.
    private let arriving: ArrivingFile?
    private var pending: [ByteBuffer] = []
    private var pendingBytes = 0

    /// - Parameters:
    ///   - name: name of the file, see ``ObjectFiles/freshName()``.
    ///   - received: memory for small uploads; nil to keep none there.
    init(
        _ name: String, checksums: Set<ChecksumAlgorithm>, files: ObjectFiles, received: ReceivedBytes?,
        arriving: ArrivingFile? = nil
    ) {
        self.arriving = arriving
        self.name = name
        path = files.path(of: name)
        self.files = files
        self.received = received
        digests = Digests(
            checksums: Dictionary(uniqueKeysWithValues: checksums.map { ($0, RunningChecksum($0)) })
        )
    }

    /// Appends bytes to the batch. The call that fills the batch (256 KB) returns after the batch is written, which
    /// gives back-pressure.
    /// - Throws: ``ScribeError/storageQuotaExceeded``, or the system's error.
    mutating func write(_ buffer: ByteBuffer) async throws {
        try arriving?.receive(buffer.readableBytes)
        pending.append(buffer)
        pendingBytes += buffer.readableBytes
        if pendingBytes > Self.batchSize { try await flush() }
    }

    /// Writes the pending bytes and closes the file. With ``Durability/full`` the file is synced to the disk.
    /// With ``Durability/normal`` a file of up to 64 KB is written on the caller's thread.
    mutating func finish() async throws -> WrittenObject {
        _ = keepInMemory()
        let onCallersThread = descriptor == nil && pendingBytes <= files.durability.callersThreadLimit
        let write = takePending()
        let (path, files, open) = (path, files, descriptor)
        // Another file may get the number of a closed descriptor.
        descriptor = nil
        digests = try await files.blocking(onCallersThread: onCallersThread) {
            let descriptor = try open ?? Self.open(path)
            return try descriptor.closeAfter {
                let digests = try write(descriptor)
                if files.durability == .full {
                    guard OperatingSystem.sync(descriptor.rawValue) == 0 else { throw Errno(rawValue: errno) }
                    try files.syncFolder(of: path)
                }
                return digests
            }
        }
        return digests.written
    }

    /// Ends a small upload without a file, for a caller that sends it from memory and then calls
    /// ``ReceivedBytes/endSending(_:)`` with its size.
    /// - Returns: nil if ``finish()`` must write a file.
    mutating func finishInMemory() async -> (written: WrittenObject, bytes: ByteBuffer)? {
        guard let received, isSmall, received.beginSending(pendingBytes), let bytes = keepInMemory() else { return nil }
        return await EventLoopOffload.run(bytes: bytes.readableBytes) { [digests] in
            var digests = digests
            bytes.withUnsafeReadableBytes { digests.update($0) }
            return (digests.written, bytes)
        }
    }

    private var isSmall: Bool { descriptor == nil && 1...ReceivedBytes.largest ~= pendingBytes }

    /// Keeps the bytes of a small upload in memory, as one piece.
    /// - Returns: nil if they are not kept.
    private mutating func keepInMemory() -> ByteBuffer? {
        guard let received, isSmall else { return nil }
        var whole = ByteBufferAllocator().buffer(capacity: pendingBytes)
        for piece in pending { whole.writeImmutableBuffer(piece) }
        pending = [whole]
        received.keep(name, whole)
        return whole
    }

    /// Closes and removes the file, also after ``finish()``.
    func discard() async {
        received?.drop([name])
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
                // No other code knows a descriptor that was opened here.
                if open == nil { try? descriptor.close() }
                throw error
            }
        }
    }

    /// Takes the pending bytes, and returns the work that writes and hashes them on a thread that may block.
    private mutating func takePending() -> @Sendable (SystemPackage.FileDescriptor) throws -> Digests {
        let (batch, before) = (pending, digests)
        pending.removeAll(keepingCapacity: true)
        pendingBytes = 0
        return { descriptor in
            var digests = before
            for buffer in batch {
                try buffer.withUnsafeReadableBytes { bytes in
                    _ = try descriptor.writeAll(bytes)
                    digests.update(bytes)
                }
            }
            return digests
        }
    }

    private static func open(_ path: String) throws -> SystemPackage.FileDescriptor {
        do {
            return try FileSystem.newFile(path, .exclusiveCreate)
        } catch Errno.noSuchFileOrDirectory {
            // The parent is one of 256 folders, made with its first file.
            let parent = (path as NSString).deletingLastPathComponent
            if mkdir(parent, 0o700) != 0, errno != EEXIST { throw Errno(rawValue: errno) }
            return try FileSystem.newFile(path, .exclusiveCreate)
        }
    }
}
