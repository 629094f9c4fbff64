import Basics
import Crypto
package import NIOCore

/// Record of a body or of a frame: the beginning of a text, or the digest of other data.
package struct RecordedBody: Sendable {
    /// Bytes so far.
    package private(set) var size = 0
    /// The first ``JournalSettings/bodyLimit`` bytes of a text; nil for other data.
    package internal(set) var text: ByteBuffer?
    private var hash: SHA256?
    /// MD5 of the object that the body has become, in hexadecimal; nil for other bodies.
    package var md5: String?
    private let isHashed: Bool
    /// Whether the server has read the body to its end. Not noted of answers.
    package var isWhole = false

    /// Creates the record of a body before its first byte.
    /// - Parameters:
    ///   - type: the content type; nil if there is none.
    ///   - isHashed: whether data that is no text gets a SHA-256. The writer of an object has a digest of its own.
    package init(type: String?, isHashed: Bool = true) {
        self.isHashed = isHashed
        if type.map(Self.isText) ?? true { text = ByteBuffer() } else if isHashed { hash = SHA256() }
    }

    /// A body of which only the size is known.
    package init(size: Int) {
        self.size = size
        isHashed = false
    }

    /// A whole body of at most ``JournalSettings/bodyLimit`` bytes.
    package init(_ bytes: ByteBuffer, type: String?) {
        if type == "application/json" {
            self.init(text: bytes)
        } else {
            self.init(type: type)
            _ = add(bytes)
        }
    }

    /// A whole text that the server made, of at most ``JournalSettings/bodyLimit`` bytes.
    package init(text: ByteBuffer) {
        size = text.readableBytes
        isHashed = false
        self.text = text.isRoomy ? ByteBuffer(bytes: text.readableBytesView) : text
    }

    /// About the memory that the body takes, in bytes.
    package var memory: Int { text?.storageCapacity ?? 200 }

    /// Whether ``text`` is shorter than the body.
    package var isTruncated: Bool { text.map { $0.readableBytes < size } ?? false }

    /// Whether ``sha256`` may still change.
    var isHashing: Bool { hash != nil }

    /// SHA-256 of data that is no text, in hexadecimal.
    package var sha256: String? { hash.map { Hex.encode($0.finalize()) } }

    /// Adds bytes. Data whose first bytes are no text counts as such, whatever its type says.
    /// - Returns: how much more memory the body takes.
    package mutating func add(_ piece: ByteBuffer) -> Int {
        let isFirst = size == 0
        size += piece.readableBytes
        if isFirst, text != nil, Self.isBinary(piece) {
            text = nil
            if isHashed { hash = SHA256() }
        }
        if hash != nil {
            EventLoopOffload.watch(bytes: piece.readableBytes, of: "a hash for the journal")
            piece.withUnsafeReadableBytes { hash?.update(bufferPointer: $0) }
            return isFirst ? 200 : 0
        }
        guard var text, text.readableBytes < JournalSettings.bodyLimit else { return 0 }
        let kept =
            piece.getSlice(
                at: piece.readerIndex,
                length: min(piece.readableBytes, JournalSettings.bodyLimit - text.readableBytes)) ?? ByteBuffer()
        let before = text.storageCapacity
        if isFirst, !kept.isRoomy {
            text = kept
        } else {
            text.writeImmutableBuffer(kept)
        }
        self.text = text
        return max(0, text.storageCapacity - before)
    }

    private static func isText(_ type: String) -> Bool {
        // By far the most. To look for a part of a text costs as much as to record the rest.
        if type == "application/json" { return true }
        if type.hasPrefix("audio/") || type == "application/octet-stream" { return false }
        let kind = type.prefix { $0 != ";" }.lowercased()
        return kind.hasPrefix("text/") || kind.contains("json") || kind.contains("xml")
            || kind.hasSuffix("x-www-form-urlencoded")
    }

    /// Whether the first bytes hold a control character that texts do not have.
    private static func isBinary(_ piece: ByteBuffer) -> Bool {
        let isWhole = piece.readableBytes <= 512
        let start = piece.readableBytesView.prefix(512)
        // Without a branch, so that the processor takes many bytes at a time.
        let (controls, all) = start.withUnsafeBytes { bytes in
            var (controls, all): (UInt8, UInt8) = (0, 0)
            for byte in bytes {
                controls |= (byte < 9 ? 1 : 0) | (byte == 127 ? 1 : 0)
                controls |= (byte &- 14 < 18 ? 1 : 0) & (byte != 27 ? 1 : 0)
                all |= byte
            }
            return (controls, all)
        }
        if controls > 0 || all < 128 { return controls > 0 }
        // The last character may be cut.
        let most = isWhole ? 0 : 3
        return !(0...most).contains { String(validating: start.dropLast($0), as: UTF8.self) != nil }
    }
}

extension ByteBuffer {
    /// Whether the bytes are a small part of the buffer's memory: a record would keep all of it.
    fileprivate var isRoomy: Bool { storageCapacity > 2 * readableBytes + 64 }
}
