package import Documents
package import HummingbirdCore
import NIOCore

extension document {
    /// A copy of the document's bytes.
    package var bytes: [UInt8] { Array(UnsafeBufferPointer(start: start, count: count)) }
}

extension ResponseBody {
    /// A document that the process has. A client that does not read costs one piece of it.
    package init(_ document: @escaping @Sendable () -> document) {
        self.init(count: document().count) { range in
            let document = document()
            return ByteBuffer(bytes: UnsafeBufferPointer(start: document.start, count: document.count)[range])
        }
    }

    /// Bytes that the process keeps. A client that does not read costs one piece of them.
    package init(shared bytes: [UInt8]) {
        self.init(count: bytes.count) { ByteBuffer(bytes: bytes[$0]) }
    }

    private init(count: Int, _ piece: @escaping @Sendable (Range<Int>) -> ByteBuffer) {
        self.init(contentLength: count) { writer in
            for start in stride(from: 0, to: count, by: AnswerPieces.size) {
                try await writer.write(piece(start..<min(count, start + AnswerPieces.size)))
            }
            try await writer.finish(nil)
        }
    }
}
