import Basics
import HTTPTypes
package import HummingbirdCore
import NIOCore

extension ScribeContext {
    /// Reserves more bytes of the memory budget, until the end of the request.
    /// - Throws: ``HTTPProblem/busy(retryAfter:)`` if none becomes free in time, `CancellationError`.
    package func hold(_ count: Int) async throws {
        do {
            try await memory?.take(count)
        } catch is MemoryBudget.Exhausted {
            throw HTTPProblem.busy(retryAfter: 1)
        }
    }

    /// Reserves memory for a large JSON answer or page, until its client has taken it.
    ///
    /// Streamed answers and other types pass unchanged.
    /// - Throws: As ``hold(_:)``.
    package func holding(_ response: Response) async throws -> Response {
        guard let memory, let length = response.body.contentLength, length > AnswerPieces.size,
            let type = response.headers.value(of: .contentType),
            type.hasPrefix("application/json") || type.hasPrefix("text/html")
        else { return response }
        try await hold(length)
        var held = response
        held.body = ResponseBody(contentLength: length) { [body = response.body] writer in
            try await body.write(AnswerPieces(writer: writer))
            // The connection now owns the last piece.
            memory.hold(0)
        }
        return held
    }
}

/// Writes an answer in pieces, as the client takes them.
struct AnswerPieces: ResponseBodyWriter {
    /// Size of a piece, in bytes.
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
