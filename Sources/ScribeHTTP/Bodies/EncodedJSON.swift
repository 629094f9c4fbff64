import Basics
import HTTPTypes
package import Hummingbird
import NIOCore
import NIOEmbedded
import NIOHTTP1
import NIOHTTPCompression
import ScribeDomain

extension Request {
    /// Reads a JSON body whole, held in the memory budget, and decodes its `Content-Encoding`. Every JSON of a client
    /// comes through here. Audio and objects do not: their bytes stay as they are.
    /// - Throws: ``HTTPProblem/encodedBody(_:)``, and as ``collectedBody(upTo:in:)``.
    package func collectedJSON(upTo limit: Int, in context: ScribeContext) async throws -> LargeInput<ByteBuffer> {
        let encoding = headers.value(of: .contentEncoding)?.lowercased() ?? "identity"
        guard encoding != "identity", !encoding.isEmpty else {
            return try await collectedBody(upTo: limit, in: context)
        }
        guard encoding == "gzip", context.acceptsGzip else {
            let isWord = encoding.utf8.count <= 20 && encoding.utf8.allSatisfy(\.isInIdentifier)
            throw HTTPProblem.encodedBody(isWord ? encoding : "of another kind")
        }
        let sent = try await collectedBody(upTo: limit, in: context)
        guard !sent.isEmpty else { return sent }
        // Its length is not known before it is decoded.
        try await context.hold(limit)
        let decoded: ByteBuffer
        do {
            decoded = try await sent.read { try Self.decoded($0, upTo: limit) }
        } catch NIOHTTPDecompression.DecompressionError.limit {
            throw HTTPProblem.bodyTooLarge(limit: limit)
        } catch {
            throw ScribeError.invalidRequest(field: nil, problem: "is no gzip")
        }
        return LargeInput(decoded, size: decoded.readableBytes)
    }

    private static func decoded(_ sent: ByteBuffer, upTo limit: Int) throws -> ByteBuffer {
        let channel = EmbeddedChannel(handler: NIOHTTPRequestDecompressor(limit: .size(limit)))
        defer { _ = try? channel.finish() }
        let head = HTTPRequestHead(
            version: .http1_1, method: .POST, uri: "/",
            headers: ["content-encoding": "gzip", "content-length": "\(sent.readableBytes)"])
        for part in [HTTPServerRequestPart.head(head), .body(sent), .end(nil)] { try channel.writeInbound(part) }
        var decoded = ByteBuffer()
        while let part = try channel.readInbound(as: HTTPServerRequestPart.self) {
            if case .body(var piece) = part { decoded.writeBuffer(&piece) }
        }
        return decoded
    }
}
