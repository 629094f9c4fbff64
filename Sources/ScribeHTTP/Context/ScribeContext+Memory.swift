import HTTPTypes
package import HummingbirdCore
import NIOCore
import ScribeDomain

extension ScribeContext {
    /// Holds so many bytes more, to the end of the request.
    /// - Throws: ``HTTPProblem/busy(retryAfter:)`` when there is no room for them in time, `CancellationError`.
    package func hold(_ count: Int) async throws {
        do {
            try await memory?.take(count)
        } catch is MemoryBudget.Exhausted {
            throw HTTPProblem.busy(retryAfter: 1)
        }
    }

    /// Holds a large answer until its client has taken it. Answers that are written as they are made know no length, or
    /// are no JSON.
    /// - Throws: as ``hold(_:)``.
    package func holding(_ response: Response) async throws -> Response {
        guard let memory, let length = response.body.contentLength, length > AnswerPieces.size,
            response.headers[.contentType]?.hasPrefix("application/json") ?? false
        else { return response }
        try await hold(length)
        var held = response
        held.body = ResponseBody(contentLength: length) { [body = response.body] writer in
            try await body.write(AnswerPieces(writer: writer))
            // Its last piece is with the connection.
            memory.hold(0)
        }
        return held
    }
}

/// Writes an answer in pieces, each when its client has room for it.
private struct AnswerPieces: ResponseBodyWriter {
    /// In bytes.
    static let size = 64 << 10

    var writer: any ResponseBodyWriter

    @concurrent mutating func write(_ buffer: ByteBuffer) async throws {
        var rest = buffer
        while let piece = rest.readSlice(length: min(Self.size, rest.readableBytes)), piece.readableBytes > 0 {
            try await writer.write(piece)
        }
    }

    @concurrent consuming func finish(_ trailingHeaders: HTTPFields?) async throws {
        try await writer.finish(trailingHeaders)
    }
}
