package import Basics
import Foundation
package import Hummingbird
package import NIOCore
import ScribeDomain

extension Request {
    /// Default limit of a JSON body, in bytes.
    package static let jsonBodyLimit = 1 << 20

    /// Decodes the JSON object in the body. The `Content-Type` is ignored, unless a browser added the credential.
    ///
    /// - Throws: ``ScribeError/invalidRequest(field:problem:)`` that names the field; as ``collectedBody(upTo:in:)``
    ///   and ``requireJSON(by:)``.
    package func decodeJSON<Value: Decodable & Sendable>(
        as type: Value.Type = Value.self, upTo limit: Int = Self.jsonBodyLimit, in context: ScribeContext
    ) async throws -> Value {
        try await decodeJSON(upTo: limit, in: context) { $0 }
    }

    /// Decodes the JSON object in the body, and works on it off the event loops if it is long.
    /// - Throws: As ``decodeJSON(as:upTo:in:)``, and the errors of `work`.
    package func decodeJSON<Value: Decodable, Result: Sendable>(
        upTo limit: Int = Self.jsonBodyLimit, in context: ScribeContext, _ work: (Value) throws -> Result
    ) async throws -> Result {
        let input = try await collectedJSON(upTo: limit, in: context)
        if !input.isEmpty { try requireJSON(by: context.credential) }
        return try await input.read { body in
            let (value, document) = try Self.decode(body, as: Value.self)
            try context.validate(document)
            return try work(value)
        }
    }

    /// Decodes the JSON object in the body; nil for an empty body, which some clients send for an empty object (C-107).
    package func decodeOptionalJSON<Value: Decodable & Sendable>(
        as type: Value.Type = Value.self, in context: ScribeContext
    ) async throws -> Value? {
        let input = try await collectedJSON(upTo: Self.jsonBodyLimit, in: context)
        guard !input.isEmpty else {
            try context.validate(nil)
            return nil
        }
        try requireJSON(by: context.credential)
        return try await input.read { body in
            let (value, document) = try Self.decode(body, as: Value.self)
            try context.validate(document)
            return value
        }
    }

    /// Requires a JSON content type if a cookie authenticates the request.
    ///
    /// A page of any origin can send text or a form without a CORS preflight.
    /// - Throws: ``HTTPProblem/notJSON``.
    package func requireJSON(by credential: Credential?) throws(HTTPProblem) {
        guard credential == .cookie, !isDeclaredAsJSON else { return }
        throw .notJSON
    }

    /// Whether the content type is JSON, or absent.
    package var isDeclaredAsJSON: Bool {
        guard let type = headers.value(of: .contentType) else { return true }
        let kind = type.prefix { $0 != ";" }.trimmingCharacters(in: .whitespaces).lowercased()
        return kind == "application/json" || kind.hasPrefix("application/") && kind.hasSuffix("+json")
    }

    /// Reads the whole body, held in the memory budget.
    /// - Throws: ``HTTPProblem/bodyTooLarge(limit:)``, ``HTTPProblem/busy(retryAfter:)``.
    package func collectedBody(upTo limit: Int, in context: ScribeContext) async throws -> LargeInput<ByteBuffer> {
        var collected = ByteBuffer()
        for try await var piece in body {
            guard piece.readableBytes <= limit - collected.readableBytes else {
                throw HTTPProblem.bodyTooLarge(limit: limit)
            }
            // The choice of the namespace may have read it, and then holds it.
            if !context.holdsBody { try await context.hold(piece.readableBytes) }
            if collected.readableBytes == 0 { collected = piece } else { collected.writeBuffer(&piece) }
        }
        return LargeInput(collected, size: collected.readableBytes)
    }

    private static func decode<Value: Decodable>(
        _ buffer: ByteBuffer, as type: Value.Type
    ) throws -> (Value, JSONDocument) {
        guard !JSONDocument.isTooLarge(buffer.readableBytesView) else {
            throw ScribeError.invalidRequest(field: nil, problem: "is nested too deeply or has too many values")
        }
        guard !CombiningMarks.areTooMany(in: buffer.readableBytesView) else {
            throw ScribeError.invalidRequest(field: nil, problem: "has too many combining marks in a row")
        }
        do {
            let document = try JSONDocument(buffer.readableBytesView)
            return (try document.decode(type), document)
        } catch let error as DecodingError {
            throw FaultyFields(of: type, in: Data(buffer.readableBytesView), first: error).error
        }
    }
}

extension Response {
    /// Builds a JSON answer.
    package static func json(_ status: HTTPResponse.Status, _ json: JSON) -> Response {
        .json(status, ByteBuffer(json))
    }

    /// Builds a JSON answer of unbounded length, off the event loop.
    package static func longJSON(
        _ status: HTTPResponse.Status, _ json: @autoclosure @Sendable () throws -> JSON
    ) async throws -> Response {
        .json(status, try await EventLoopOffload.run(bytes: .max) { ByteBuffer(try json()) })
    }

    /// Builds an answer from encoded JSON.
    package static func json(_ status: HTTPResponse.Status, _ body: ByteBuffer) -> Response {
        Response(status: status, headers: [.contentType: "application/json"], body: ResponseBody(byteBuffer: body))
    }
}

extension ByteBuffer {
    /// Encodes JSON into a buffer.
    package init(_ json: JSON) {
        let bytes = json.bytes
        EventLoopOffload.watch(bytes: bytes.count, of: "an answer")
        self.init(bytes: bytes)
    }
}
