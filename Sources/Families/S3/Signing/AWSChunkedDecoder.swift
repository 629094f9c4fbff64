import Basics
import Crypto
import Foundation
import NIOCore

/// Decodes an `aws-chunked` body as it arrives, and verifies each chunk's signature.
///
/// The body is a sequence of `<hex size>[;chunk-signature=<hex>] CRLF <bytes> CRLF`, a chunk of size 0, optional
/// trailers, and an empty line. Android sends such a body without a `Content-Encoding` (eka.md 3.2).
struct AWSChunkedDecoder {
    private enum State {
        case size
        case data(remaining: Int, signature: [UInt8]?)
        case dataEnd
        case trailers
        case done
    }

    /// Longest line of framing, and longest trailers, in bytes.
    private static let lineLimit = 1024
    private static let trailerLimit = 8192

    private var signatures: SigV4ChunkSignatures?
    private let hasTrailer: Bool
    private var state = State.size
    private var line: [UInt8] = []
    private var chunkHash = SHA256()
    private var trailerBytes = 0
    /// True once the trailers' own signature is verified: only the end may follow.
    private var isSealed = false
    /// Trailers in the order of arrival, names in lower case.
    private(set) var trailers: [(name: String, value: String)] = []

    /// - Parameter signatures: nil for a body with unsigned chunks.
    init(signatures: SigV4ChunkSignatures?, hasTrailer: Bool) {
        self.signatures = signatures
        self.hasTrailer = hasTrailer
    }

    /// Decodes the next bytes of the body, and returns the object's bytes in them.
    /// - Throws: ``S3Error/signatureDoesNotMatch(_:)``, or ``S3Error/incompleteBody`` for malformed framing.
    mutating func decode(_ buffer: ByteBuffer) throws(S3Error) -> [ByteBuffer] {
        var buffer = buffer
        var pieces: [ByteBuffer] = []
        while buffer.readableBytes > 0 {
            switch state {
            case .data(let remaining, let signature):
                guard let piece = buffer.readSlice(length: min(remaining, buffer.readableBytes)) else { break }
                if signatures != nil { piece.withUnsafeReadableBytes { chunkHash.update(bufferPointer: $0) } }
                pieces.append(piece)
                let rest = remaining - piece.readableBytes
                state = .data(remaining: rest, signature: signature)
                if rest == 0 {
                    try checkChunk(signature)
                    state = .dataEnd
                }
            case .size, .dataEnd, .trailers:
                if let text = try readLine(from: &buffer) { try take(text) }
            case .done:
                throw .incompleteBody
            }
        }
        return pieces
    }

    /// Ends an `aws-chunked` body.
    /// - Throws: ``S3Error/incompleteBody`` if its end is missing, ``S3Error/malformedTrailer`` if the trailers are.
    func finish() throws(S3Error) {
        switch state {
        case .done: return
        // Clients often leave out the last line end.
        case .trailers where line.isEmpty:
            guard areTrailersComplete else { throw .malformedTrailer }
        case .size, .data, .dataEnd, .trailers: throw .incompleteBody
        }
    }

    private var areTrailersComplete: Bool {
        guard hasTrailer else { return true }
        return signatures == nil ? !trailers.isEmpty : isSealed
    }

    /// The next line without its line end (CRLF or LF); nil until the whole line has arrived.
    private mutating func readLine(from buffer: inout ByteBuffer) throws(S3Error) -> String? {
        while let byte = buffer.readInteger(as: UInt8.self) {
            if byte == UInt8(ascii: "\n") {
                if line.last == UInt8(ascii: "\r") { line.removeLast() }
                defer { line.removeAll(keepingCapacity: true) }
                return String(decoding: line, as: UTF8.self)
            }
            guard line.count < Self.lineLimit else { throw .incompleteBody }
            line.append(byte)
        }
        return nil
    }

    private mutating func take(_ text: String) throws(S3Error) {
        switch state {
        case .size: try takeSize(text)
        case .dataEnd:
            guard text.isEmpty else { throw .incompleteBody }
            state = .size
        case .trailers: try takeTrailer(text)
        case .data, .done: throw .incompleteBody
        }
    }

    private mutating func takeSize(_ text: String) throws(S3Error) {
        let parts = text.split(separator: ";", omittingEmptySubsequences: false)
        guard let first = parts.first, (1...8).contains(first.utf8.count),
            first.utf8.allSatisfy({ $0 != 0x2B && $0 != 0x2D }),
            let size = Int(first, radix: 16)
        else { throw .incompleteBody }
        let prefix = "chunk-signature="
        let signature = parts.dropFirst().first { $0.hasPrefix(prefix) }.flatMap {
            Hex.decode($0.dropFirst(prefix.count))
        }
        chunkHash = SHA256()
        if size > 0 {
            state = .data(remaining: size, signature: signature)
        } else {
            try checkChunk(signature)
            state = .trailers
        }
    }

    private mutating func takeTrailer(_ text: String) throws(S3Error) {
        trailerBytes += text.utf8.count
        guard trailerBytes <= Self.trailerLimit else { throw .incompleteBody }
        if text.isEmpty {
            // Some clients put an empty line between the trailers and their signature.
            if areTrailersComplete || signatures == nil { state = .done }
            return
        }
        guard hasTrailer, !isSealed, let colon = text.firstIndex(of: ":") else { throw .incompleteBody }
        let name = text[..<colon].lowercased()
        let value = text[text.index(after: colon)...].trimmingCharacters(in: .whitespaces)
        if name == "x-amz-trailer-signature" {
            guard let signature = Hex.decode(value), signatures?.checkTrailer(trailers, signature) == true else {
                throw .signatureDoesNotMatch()
            }
            isSealed = true
        } else {
            trailers.append((name, value))
        }
    }

    private mutating func checkChunk(_ signature: [UInt8]?) throws(S3Error) {
        guard signatures != nil else { return }
        guard let signature, signatures?.checkChunk(hash: chunkHash.finalize(), signature) == true else {
            throw .signatureDoesNotMatch()
        }
    }
}
