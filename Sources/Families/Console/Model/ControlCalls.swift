import Basics
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import ScribeHTTP

/// Calls of the operator API within the process.
struct ControlCalls: Sendable {
    let family: any Family
    /// The operators' token; nil if the API needs none.
    let token: String?

    /// First path component of the operator API.
    private static let root = "__admin"

    /// Reads a JSON answer. Refusals are answers too.
    func read(
        _ path: String, for request: Request, _ context: ScribeContext
    ) async throws -> (status: HTTPResponse.Status, body: JSONValue) {
        let head = HTTPRequest(
            method: .get, scheme: request.head.scheme, authority: request.authority, path: "/\(Self.root)/\(path)",
            headerFields: fields)
        let response = try await family.respond(
            to: Request(head: head, body: RequestBody(buffer: ByteBuffer())), context: context)
        let collected = CollectedBody()
        try await response.body.write(collected)
        let bytes = collected.buffer
        let body = await EventLoopOffload.run(bytes: bytes.readableBytes) {
            JSONDocument.untrusted(Data(bytes.readableBytesView), as: JSONValue.self)
        }
        return (response.status, body ?? .null)
    }

    /// Forwards a request of a page to the operator API.
    /// - Parameter path: the path below the operator API.
    func pass(_ request: Request, to path: ArraySlice<Substring>, _ context: ScribeContext) async throws -> Response {
        var head = request.head
        head.path = "/\(Self.root)/" + path.joined(separator: "/") + (request.uri.query.map { "?\($0)" } ?? "")
        head.headerFields = fields
        for name in [HTTPField.Name.contentType, .contentLength, .transferEncoding] {
            head.headerFields[name] = request.headers[name]
        }
        return try await family.respond(
            to: Request(head: head, body: request.body), context: context)
    }

    private var fields: HTTPFields { token.map { [.authorization: "Bearer \($0)"] } ?? [:] }
}
