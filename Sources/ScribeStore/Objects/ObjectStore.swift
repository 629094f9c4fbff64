package import Crypto
package import Foundation
package import NIOCore

/// The bytes of uploads, each under a fresh name that no client chose.
///
/// A name belongs to an object from the moment its row says so. Before that, and after the row is gone, the bytes belong to
/// nothing. ``ObjectFiles`` keeps them in files.
package protocol ObjectStore: Sendable {
    /// Makes a name for new bytes.
    func freshName() -> String

    /// Begins to write under a name of ``freshName()``.
    /// - Parameters:
    ///   - checksums: the checksums that are wanted beside the MD5.
    ///   - arriving: counts the bytes towards a quota while they arrive; nil where no quota applies.
    func create(_ name: String, checksums: Set<ChecksumAlgorithm>, arriving: ArrivingFile?) -> any ObjectWriter

    /// Opens the bytes of a name; nil when they are gone.
    func open(_ name: String) async throws -> (any ObjectReader)?

    /// Lends the bytes of a name as a file of this machine, at the path that `body` gets, until `body` ends.
    func withLocalFile<Value: Sendable>(
        _ name: String, _ body: (String) async throws -> Value
    ) async throws -> Value

    /// Writes the bytes of `parts`, one after another, under a new name.
    /// - Returns: their number; nil when one of the parts is gone.
    func join(_ parts: [String], into name: String) async throws -> Int?

    /// Removes bytes that no object refers to any more.
    func remove(_ names: [String]) async

    /// Lists names that may belong to nothing, some hundred at a time.
    /// - Parameter time: lists names that were last written before it, where other processes write too. Nil lists all
    ///   names of earlier starts.
    func leftFiles(before time: Date?, _ body: ([String]) async throws -> Void) async throws
}

extension ObjectStore {
    package func create(_ name: String, checksums: Set<ChecksumAlgorithm> = []) -> any ObjectWriter {
        create(name, checksums: checksums, arriving: nil)
    }
}

/// Writes one upload as it arrives, and hashes it on the way. One task uses it, and ends it with ``finish()`` or
/// ``discard()``.
package protocol ObjectWriter: Sendable {
    /// Takes the next bytes. Returns when they, or a batch before them, are written: this is the back-pressure.
    /// - Throws: ``ScribeError/storageQuotaExceeded``, ``ScribeError/storageUnavailable(cause:)``.
    mutating func write(_ buffer: ByteBuffer) async throws

    /// Writes what is left. The bytes survive what ``Store/Durability`` says when it returns.
    mutating func finish() async throws -> WrittenObject

    /// Removes what was written, also after ``finish()``.
    func discard() async
}

/// Bytes that were written.
package struct WrittenObject: Sendable {
    /// In bytes.
    package let size: Int
    package let md5: Insecure.MD5Digest
    /// The checksums that were asked for, in network byte order.
    package let checksums: [ChecksumAlgorithm: [UInt8]]
}

/// Open bytes: they can be read to the end even when the object is replaced or deleted meanwhile.
package protocol ObjectReader: Sendable {
    /// Reads from the beginning of `range`, as much as is read at a time.
    /// - Returns: empty at the end.
    func read(_ range: Range<Int>) async throws -> ByteBuffer
}
