package import Hummingbird
package import NIOCore

/// Reads the pieces of a form from a request's body, one by one.
package struct FormReader {
    private var decoder: FormDecoder
    private var body: RequestBody.AsyncIterator
    private var events: ArraySlice<FormDecoder.Event> = []
    private var size = 0
    private let limit: Int

    /// - Parameter limit: Largest body, in bytes.
    /// - Returns: nil if the body is no form.
    package init?(_ request: Request, limit: Int = .max) {
        guard let decoder = request.headers.value(of: .contentType).flatMap(FormDecoder.init(contentType:)) else {
            return nil
        }
        self.decoder = decoder
        self.limit = limit
        body = request.body.makeAsyncIterator()
    }

    /// The next piece; nil at the end of the form.
    /// - Throws: ``FormDecoder/Malformed``, ``HTTPProblem/bodyTooLarge(limit:)``, and errors of the body.
    package mutating func next() async throws -> FormDecoder.Event? {
        while events.isEmpty {
            guard let buffer = try await body.next(isolation: #isolation) else {
                try decoder.finish()
                return nil
            }
            size += buffer.readableBytes
            guard size <= limit else { throw HTTPProblem.bodyTooLarge(limit: limit) }
            events = try decoder.decode(buffer)[...]
        }
        return events.popFirst()
    }

    /// The next bytes of the present part; nil at its end.
    /// - Throws: As ``next()``.
    package mutating func data() async throws -> ByteBuffer? {
        guard case .data(let data) = try await next() else { return nil }
        return data
    }
}
