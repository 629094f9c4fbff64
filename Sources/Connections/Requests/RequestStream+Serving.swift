import HTTPTypes
package import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1
import NIOHTTPTypes

/// Answers a request of a connection, on its event loop.
package typealias Responder = @Sendable (Request, ClientConnection) async throws -> Response

extension RequestStream {
    /// Answers the requests in turn, until the client or an answer ends the connection.
    func serve(_ respond: Responder, _ logger: Logger) async {
        await withTaskCancellationHandler {
            do {
                try await serveAll(respond)
                close(isCut: false)
            } catch {
                logger.trace("an answer could not be written", metadata: ["error": "\(error)"])
                close(isCut: true)
            }
            try? await channel.closeFuture.get()
        } onCancel: {
            channel.close(mode: .input, promise: nil)
        }
    }

    private func serveAll(_ respond: Responder) async throws {
        do {
            while let request = try await next() {
                var response = try await respond(request, connection)
                // The client may now send the body or leave it out: nothing can follow on the connection.
                let isLast = giveUpContinue()
                if isLast { response.headers[.connection] = "close" }
                try await write(.head(response.head))
                do {
                    try await response.body.write(AnswerWriter(stream: self))
                } catch is HTTPParserError {
                    // A second answer must not follow a part of the first.
                    throw ChannelError.inputClosed
                }
                guard request.headers[.connection] != "close", !isLast else { return }
            }
        } catch is HTTPParserError {
            let fields: HTTPFields = [.connection: "close", .contentLength: "0"]
            try await write(.head(HTTPResponse(status: .badRequest, headerFields: fields)))
            try await write(.end(nil))
        }
    }
}

/// Writes the body of an answer.
private struct AnswerWriter: ResponseBodyWriter {
    let stream: RequestStream

    @concurrent mutating func write(_ buffer: ByteBuffer) async throws { try await stream.write(.body(buffer)) }

    @concurrent consuming func finish(_ trailingHeaders: HTTPFields?) async throws {
        try await stream.write(.end(trailingHeaders))
    }
}
