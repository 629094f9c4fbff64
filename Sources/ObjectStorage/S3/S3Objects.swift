import AsyncHTTPClient
package import Basics
import Crypto
package import Foundation
import NIOCore
package import NIOPosix
package import ScribeDomain

/// Object store in a bucket of S3. An upload stays in memory if it is small, or is written to a local file, and is sent
/// when it is whole. Recognisers read these bytes in place of the object.
///
/// A key is written once and never again. Bytes that no object refers to are deleted an hour later or more, because a
/// reader may not have come to their end. Until then a row of the store names them.
package final class S3Objects: ObjectStore {
    /// Least time between the end of an object and the deletion of its bytes, in seconds.
    private static let grace = 3600.0

    let client: S3Client
    /// Files of uploads that are on their way, and of bytes that a recogniser reads.
    package let spool: ObjectFiles
    package let received: ReceivedBytes?
    fileprivate let copies: LocalCopies
    private let removals: (any ObjectRemovals)?
    private let identifiers: IdentifierSource
    private let names: ObjectNames

    /// - Parameters:
    ///   - folder: an existing folder for temporary files.
    ///   - room: memory for small uploads; nil to keep none there.
    ///   - removals: records objects to delete; nil to leave that to ``leftFiles(before:_:)``.
    package init(
        _ address: S3Address, _ credentials: S3Address.Credentials, folder: String,
        room: ReceivedBytes.Room? = nil, removals: (any ObjectRemovals)? = nil,
        identifiers: IdentifierSource, clock: WallClock, pool: NIOThreadPool
    ) {
        self.removals = removals
        received = room.map(ReceivedBytes.init(in:))
        client = S3Client(address: address, credentials: credentials, clock: clock)
        spool = ObjectFiles(
            folder: folder, durability: .normal, identifiers: identifiers, pool: pool, isBackedUp: false)
        copies = LocalCopies(in: spool)
        self.identifiers = identifiers
        names = ObjectNames(identifiers)
    }

    /// Checks that the bucket takes objects.
    /// - Throws: ``ObjectStorageProblem``.
    package func check() async throws { try await client.check() }

    /// Claims the bucket's prefix for the database of these secrets.
    /// - Throws: ``ObjectStorageProblem`` if the prefix belongs to another database.
    package func claim(by secrets: any SecretStore) async throws {
        let database = try await secrets.secret(named: "bucket-owner") { [identifiers] in
            Array(identifiers.uuid().utf8)
        }
        try await client.claim(for: database)
    }

    package func freshName() -> String { names.next() }

    package func isReachable() async -> Bool { await client.isReachable() }

    package func create(_ name: String, checksums: Set<ChecksumAlgorithm>, arriving: ArrivingFile?) -> any ObjectWriter
    {
        S3ObjectWriter(
            name: name, objects: self,
            local: FileObjectWriter(
                name, checksums: checksums, files: spool, received: received, arriving: arriving))
    }

    package func open(_ name: String) async throws -> (any ObjectReader)? {
        if let bytes = received?.bytes(of: name) { return S3ObjectReader(name: name, client: nil, first: bytes) }
        if let copy = try await copies.open(name) { return copy }
        guard let first = try await client.get(name, 0..<S3ObjectReader.firstSize) else { return nil }
        return S3ObjectReader(name: name, client: client, first: first)
    }

    /// Lends the copy of an object, which is fetched if this server has none.
    package func withLocalFile<Value: Sendable>(
        _ name: String, _ body: (String) async throws -> Value
    ) async throws -> Value {
        if let value = try await copies.lend(name, body) { return value }
        return try await spool.withNewObject { copy in
            if let bytes = received?.bytes(of: name) {
                try await copy.write(bytes)
                _ = try await copy.finish()
                return try await body(spool.path(of: copy.name))
            }
            guard try await fetch(name, into: &copy) else { throw ScribeError.resourceNotFound("The audio is gone") }
            let size = try await copy.finish().size
            guard size <= LocalCopies.largest else { return try await body(spool.path(of: copy.name)) }
            copy.isKept = true
            await copies.keep(name, in: copy.name, size: size, at: client.clock.now)
            guard let value = try await copies.lend(name, body) else {
                throw ScribeError.storageUnavailable(cause: "an object is gone")
            }
            return value
        }
    }

    /// - Returns: false if there is no such object.
    private func fetch(_ name: String, into copy: inout NewObject) async throws -> Bool {
        var position = 0
        while true {
            let piece = position..<position + S3ObjectReader.pieceSize
            guard let bytes = try await client.get(name, piece) else { return false }
            position += bytes.readableBytes
            try await copy.write(bytes)
            if bytes.readableBytes < piece.count { return true }
        }
    }

    /// Notes bytes for deletion. A process that ends before leaves them to ``leftFiles(before:_:)``.
    package func remove(_ names: [String]) async {
        guard !names.isEmpty else { return }
        received?.drop(names)
        await copies.drop(names)
        let now = client.clock.now
        try? await shieldFromCancellation { [removals] in try await removals?.addRemovals(of: names, at: now) }
    }

    package func sweep(_ removals: any ObjectRemovals, at now: Date) async throws {
        let end = now.addingTimeInterval(-Self.grace)
        while case let names = try await removals.removals(before: end), !names.isEmpty {
            for name in try await removals.unusedFiles(among: names) { try await client.delete(name) }
            try await removals.forgetRemovals(of: names)
        }
    }

    package func dropOldCopies(at now: Date) async { await copies.dropOldest(at: now) }

    package func keepingAll<Value: Sendable>(_ body: @Sendable () async throws -> Value) async throws -> Value {
        try await body()
    }

    /// Refuses: snapshots are of a store on SQLite.
    package func lend(_ names: [String], to folder: String) async throws { throw Self.noSnapshots }

    package func adopt(_ names: [String], from folder: String) async throws { throw Self.noSnapshots }

    private static let noSnapshots = ScribeError.invalidState("Objects in S3 have no snapshots")

    package func leftFiles(before time: Date?, _ body: ([String]) async throws -> Void) async throws {
        var last: String?
        while let page = try await client.list(after: last) {
            last = page.last?.name
            let old = page.filter { $0.writtenAt < time ?? .distantPast && $0.name != S3Client.ownerName }.map(\.name)
            if !old.isEmpty { try await body(old) }
        }
    }
}

extension S3Objects {
    private static let filesAtOnce = 8

    /// Sends files that the bucket does not have, under their own names.
    /// - Parameter files: names and sizes in bytes.
    /// - Throws: ``ScribeError/storageUnavailable(cause:)``.
    package func send(
        _ files: [(name: String, size: Int)], of folder: ObjectFiles, on threads: NIOThreadPool
    ) async throws {
        try await withThrowingTaskGroup(of: Void.self) { [client] group in
            for (index, file) in files.enumerated() {
                if index >= Self.filesAtOnce { try await group.next() }
                group.addTask {
                    guard try await client.size(of: file.name) != file.size else { return }
                    let md5 = try await threads.runIfActive { try FileDigest.md5(ofFile: folder.path(of: file.name)) }
                    try await client.put(file.name, size: file.size, md5: Hex.decode(md5) ?? []) {
                        .stream(
                            SpooledBytes(name: file.name, spool: folder, size: file.size),
                            length: .known(Int64(file.size)))
                    }
                }
            }
            try await group.waitForAll()
        }
    }
}

/// Writer of one object. Sends the bytes to S3 at the end, from memory or from a local file. The file stays as the
/// object's copy.
private struct S3ObjectWriter: ObjectWriter {
    let name: String
    let objects: S3Objects
    var local: FileObjectWriter
    /// Whether S3 may have the bytes.
    var isSent = false

    mutating func write(_ buffer: ByteBuffer) async throws { try await local.write(buffer) }

    /// Sends the bytes. After the return S3 has stored them.
    mutating func finish() async throws -> WrittenObject {
        if let (written, bytes) = await local.finishInMemory() {
            defer { objects.received?.endSending(written.size) }
            isSent = true
            try await objects.client.put(name, size: written.size, md5: [UInt8](written.md5)) { .bytes(bytes) }
            return written
        }
        let written = try await local.finish()
        let (spool, name) = (objects.spool, name)
        isSent = true
        try await objects.client.put(name, size: written.size, md5: [UInt8](written.md5)) {
            .stream(SpooledBytes(name: name, spool: spool, size: written.size), length: .known(Int64(written.size)))
        }
        await objects.copies.keep(name, in: name, size: written.size, at: objects.client.clock.now)
        return written
    }

    func discard() async {
        await objects.copies.drop([name])
        await local.discard()
        if isSent { await objects.remove([name]) }
    }
}

/// Bytes of a file in the spool.
struct SpooledBytes: AsyncSequence, Sendable {
    typealias Element = ByteBuffer

    let name: String
    let spool: ObjectFiles
    let size: Int

    func makeAsyncIterator() -> Iterator { Iterator(bytes: self) }

    struct Iterator: AsyncIteratorProtocol {
        let bytes: SpooledBytes
        var reader: (any ObjectReader)?
        var position = 0

        mutating func next() async throws -> ByteBuffer? {
            guard position < bytes.size else { return nil }
            if reader == nil { reader = try await bytes.spool.open(bytes.name) }
            guard let piece = try await reader?.read(position..<bytes.size), piece.readableBytes > 0 else { return nil }
            position += piece.readableBytes
            return piece
        }
    }
}

/// Reader of an object's bytes by ranges.
private struct S3ObjectReader: ObjectReader {
    /// Size of one read, in bytes.
    static let pieceSize = 1 << 20
    /// Size of the first read, which also says whether there is such an object. A usual chunk takes no other request.
    static let firstSize = 1 << 18

    let name: String
    /// Nil if the bytes of the first read are all.
    let client: S3Client?
    /// Bytes of the first read.
    let first: ByteBuffer

    func read(_ range: Range<Int>) async throws -> ByteBuffer {
        guard !range.isEmpty else { return ByteBuffer() }
        if range.lowerBound < first.readableBytes {
            var rest = first
            rest.moveReaderIndex(forwardBy: range.lowerBound)
            return rest.readSlice(length: min(range.count, rest.readableBytes)) ?? rest
        }
        guard let client else { return ByteBuffer() }
        let piece = range.lowerBound..<min(range.upperBound, range.lowerBound + Self.pieceSize)
        guard let bytes = try await client.get(name, piece) else {
            throw ScribeError.storageUnavailable(cause: "an object is gone")
        }
        return bytes
    }
}
