import Basics
package import HTTPTypes
import Hummingbird
import Journal
package import NIOCore
import ScribeRuntime
import Synchronization

/// Body of a request, recorded as it is read.
struct RecordedRequestBody: AsyncSequence, Sendable {
    typealias Element = ByteBuffer

    let body: RequestBody
    let record: JournalRecord

    func makeAsyncIterator() -> Iterator { Iterator(bytes: body.makeAsyncIterator(), record: record) }

    struct Iterator: AsyncIteratorProtocol {
        var bytes: RequestBody.AsyncIterator
        let record: JournalRecord

        mutating func next() async throws -> ByteBuffer? {
            guard let piece = try await bytes.next(isolation: #isolation) else {
                record.noteWholeBody()
                return nil
            }
            await EventLoopOffload.run(bytes: piece.readableBytes) { [record] in
                record.update { $0.requestBody?.add(piece) ?? 0 }
            }
            return piece
        }
    }
}

/// Takes a short answer that is in memory already.
package final class CollectedBody: ResponseBodyWriter, Sendable {
    private let collected = Mutex(ByteBuffer())

    package init() {}

    /// The bytes so far.
    package var buffer: ByteBuffer { collected.withLock { $0 } }

    @concurrent package func write(_ buffer: ByteBuffer) async throws {
        collected.withLock { collected in
            if collected.readableBytes == 0 { collected = buffer } else { collected.writeImmutableBuffer(buffer) }
        }
    }

    @concurrent package func finish(_ trailingHeaders: HTTPFields?) async throws {}
}

/// Passes an answer, and records it before its last piece, or its end alone.
struct RecordingWriter: ResponseBodyWriter {
    var writer: any ResponseBodyWriter
    let record: JournalRecord
    let keepsBody: Bool
    /// Bytes to come; nil if the answer's length is not known.
    var left: Int?

    @concurrent mutating func write(_ buffer: ByteBuffer) async throws {
        guard keepsBody else { return try await writer.write(buffer) }
        await EventLoopOffload.run(bytes: buffer.readableBytes) { [record] in
            record.update { $0.add(response: buffer) }
        }
        if let before = left {
            left = before - buffer.readableBytes
            if before <= buffer.readableBytes { record.end(.whole) }
        }
        try await writer.write(buffer)
    }

    @concurrent consuming func finish(_ trailingHeaders: HTTPFields?) async throws {
        record.end(.whole)
        try await writer.finish(trailingHeaders)
    }
}
