import Basics
package import Crypto
package import Foundation
package import NIOCore

/// Object store: the bytes of uploads, each under a fresh name that no client chose.
///
/// A name belongs to an object from the moment its row says so. Before that, and after the row is gone, the bytes
/// belong to nothing. ``ObjectFiles`` keeps them in files, ``S3Objects`` in a bucket.
///
/// All uploads, recognitions and downloads of a state use one store. Calls come on any thread, event loops among them,
/// and many at once: blocking work runs on the store's own threads. Errors of a disk without room and of a bucket that
/// does not answer are ``ScribeError/storageUnavailable(cause:)``.
package protocol ObjectStore: Sendable {
    /// Files of this machine, for bytes that become no object.
    var spool: ObjectFiles { get }

    /// Small uploads that are still in memory; nil for a store that keeps none there.
    var received: ReceivedBytes? { get }

    /// Makes a name for new bytes: 3 to 80 letters, digits, hyphens and dots, as ``ObjectFiles/isName(_:)`` says. No
    /// two calls of any process make the same name.
    func freshName() -> String

    /// Whether the store answers, for `/readyz`. Files always do.
    func isReachable() async -> Bool

    /// Makes the writer for a name of ``freshName()``, and writes nothing yet. Only
    /// ``withNewObject(checksums:arriving:_:)`` calls it.
    /// - Parameters:
    ///   - checksums: checksums to compute beside the MD5.
    ///   - arriving: counts the received bytes towards a quota; nil without a quota.
    func create(_ name: String, checksums: Set<ChecksumAlgorithm>, arriving: ArrivingFile?) -> any ObjectWriter

    /// Opens an object's bytes for reading; nil when they are gone.
    /// - Throws: ``ScribeError/storageUnavailable(cause:)`` of a bucket; the system's error of a file.
    func open(_ name: String) async throws -> (any ObjectReader)?

    /// Lends an object's bytes as a local file, at the path that `body` gets, until `body` ends.
    ///
    /// Recognisers and ffmpeg read the file. Nothing may change it.
    /// - Throws: errors of `body`; ``ScribeError/resourceNotFound(_:)`` if a bucket has lost the bytes. Files are not
    ///   looked for: there `body` finds out.
    func withLocalFile<Value: Sendable>(
        _ name: String, _ body: (String) async throws -> Value
    ) async throws -> Value

    /// Removes bytes that no object refers to, at once or by ``sweep(_:at:)``. A failure leaves the bytes to
    /// ``leftFiles(before:_:)``. Open readers of files read on to the end.
    func remove(_ names: [String]) async

    /// Removes bytes whose removal is due. One process at a time calls it every hour.
    /// - Parameters:
    ///   - removals: the records of ``remove(_:)``, from the database that all processes share.
    ///   - now: time of the call.
    /// - Throws: ``ScribeError/storageUnavailable(cause:)``. What is left is due at the next call.
    func sweep(_ removals: any ObjectRemovals, at now: Date) async throws

    /// Drops this machine's copies that are too old. Each process calls it several times a minute.
    func dropOldCopies(at now: Date) async

    /// Runs `body`, and removes no bytes until it ends: a snapshot names them first, and takes them with
    /// ``lend(_:to:)``. A bucket needs no such time, because it deletes an hour late.
    /// - Throws: errors of `body`.
    func keepingAll<Value: Sendable>(_ body: @Sendable () async throws -> Value) async throws -> Value

    /// Puts bytes into a folder of the same machine, each as a file with the object's name. The files never change.
    /// - Throws: the error of the file system; ``ScribeError/invalidState(_:)`` of a bucket, which has no snapshots.
    func lend(_ names: [String], to folder: String) async throws

    /// Takes bytes from a folder where ``lend(_:to:)`` put them, under the same names.
    /// - Throws: as ``lend(_:to:)``.
    func adopt(_ names: [String], from folder: String) async throws

    /// Lists names that may belong to no object, some hundred at a time. The server calls it after its start, and once
    /// a day where several processes share the data.
    /// - Parameters:
    ///   - time: lists only names last written before this time, where other processes write too. Nil lists all names
    ///     of earlier starts.
    ///   - body: asks the database which names no row has, and removes these.
    /// - Throws: errors of `body`; the error of the file system or of the bucket.
    func leftFiles(before time: Date?, _ body: ([String]) async throws -> Void) async throws
}

extension ObjectStore {
    package func isReachable() async -> Bool { true }

    package func sweep(_ removals: any ObjectRemovals, at now: Date) async throws {}

    package func dropOldCopies(at now: Date) async {}

    /// Lends the writer of new bytes to `body`, and removes the bytes at its end unless they are kept.
    ///
    /// Every way in writes in this scope, so that no error and no early return leaves bytes that nothing counts.
    /// - Parameters: as of ``create(_:checksums:arriving:)``.
    package func withNewObject<Value>(
        checksums: Set<ChecksumAlgorithm> = [], arriving: ArrivingFile? = nil,
        _ body: (inout NewObject) async throws -> Value
    ) async throws -> Value {
        let name = freshName()
        var object = NewObject(name: name, writer: create(name, checksums: checksums, arriving: arriving))
        let result = await outcome { try await body(&object) }
        if !object.isKept { await object.writer.discard() }
        return try result.get()
    }
}

/// Bytes that are being written under a fresh name, in the scope of
/// ``ObjectStore/withNewObject(checksums:arriving:_:)``.
package struct NewObject: Sendable {
    package let name: String
    /// Whether a row refers to the bytes, or may do so.
    package var isKept = false
    fileprivate var writer: any ObjectWriter

    /// Appends bytes, as ``ObjectWriter/write(_:)``.
    package mutating func write(_ buffer: ByteBuffer) async throws { try await writer.write(buffer) }

    /// Appends bytes of another object.
    /// - Returns: false if they are gone.
    package mutating func write(_ name: String, _ bytes: Range<Int>, of objects: any ObjectStore) async throws -> Bool {
        guard let reader = try await objects.open(name) else { return false }
        return try await reader.read(bytes) { try await writer.write($0) }
    }

    /// Writes the pending bytes, as ``ObjectWriter/finish()``.
    package mutating func finish() async throws -> WrittenObject { try await writer.finish() }
}

/// Writer of one upload: writes and hashes the bytes as they arrive. One task uses the writer.
package protocol ObjectWriter: Sendable {
    /// Appends bytes to a batch. The call that fills the batch returns after it is written, which gives back-pressure.
    /// - Throws: ``ScribeError/storageQuotaExceeded``, ``ScribeError/storageUnavailable(cause:)``.
    mutating func write(_ buffer: ByteBuffer) async throws

    /// Writes the pending bytes. After the return, the bytes are as durable as ``Durability`` says. No write follows.
    /// - Returns: size and checksums of all bytes that were written.
    /// - Throws: ``ScribeError/storageUnavailable(cause:)``, or the system's error; then the caller discards.
    mutating func finish() async throws -> WrittenObject

    /// Removes the written bytes, also after ``finish()``, and also in a cancelled task.
    func discard() async
}

/// Result of writing an object: size and checksums.
package struct WrittenObject: Sendable {
    /// Size in bytes.
    package let size: Int
    package let md5: Insecure.MD5Digest
    /// Requested checksums, in network byte order.
    package let checksums: [ChecksumAlgorithm: [UInt8]]
}

/// Reader of an object's bytes, for one task. It reads to the end even when the object is replaced or deleted
/// meanwhile.
package protocol ObjectReader: Sendable {
    /// Reads from the beginning of `range`, at most one piece, whose size the store chooses: read on from the piece's
    /// end.
    /// - Parameter range: offsets in bytes, from 0. An end beyond the object's end is allowed.
    /// - Returns: the bytes; empty at the end.
    /// - Throws: ``ScribeError/storageUnavailable(cause:)``, or the system's error.
    func read(_ range: Range<Int>) async throws -> ByteBuffer
}

extension ObjectReader {
    /// Reads a range piece by piece.
    /// - Returns: false if the bytes end before the range does.
    /// - Throws: errors of `body`, and those of ``read(_:)``.
    package func read(
        _ range: Range<Int>, _ body: @concurrent (ByteBuffer) async throws -> Void
    ) async throws -> Bool {
        var place = range.lowerBound
        while place < range.upperBound {
            let piece = try await read(place..<range.upperBound)
            guard piece.readableBytes > 0 else { return false }
            place += piece.readableBytes
            try await body(piece)
        }
        return true
    }
}
