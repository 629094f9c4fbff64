import Basics
package import Hummingbird
package import NIOCore
import ScribeDomain

/// A small multipart form, read as a whole into memory.
package struct CollectedForm: Sendable {
    /// Parts in the order of arrival; names may repeat.
    private var parts: [(part: FormPart, content: ByteBuffer)] = []

    /// Reads the form in a request's body.
    /// - Throws: ``ScribeError/invalidRequest(field:problem:)``, ``HTTPProblem/bodyTooLarge(limit:)``,
    ///   ``HTTPProblem/busy(retryAfter:)``.
    package static func read(
        _ request: Request, limit: Int, in context: ScribeContext
    ) async throws -> LargeInput<CollectedForm> {
        var form = CollectedForm()
        guard var decoder = request.headers.value(of: .contentType).flatMap(FormDecoder.init(contentType:)) else {
            throw ScribeError.invalidRequest(field: nil, problem: "must be multipart/form-data")
        }
        var size = 0
        do {
            for try await buffer in request.body {
                size += buffer.readableBytes
                guard size <= limit else { throw HTTPProblem.bodyTooLarge(limit: limit) }
                try await context.hold(buffer.readableBytes)
                for event in try decoder.decode(buffer) {
                    switch event {
                    case .part(let part): form.parts.append((part, ByteBuffer()))
                    case .data(var data): form.parts[form.parts.count - 1].content.writeBuffer(&data)
                    case .endOfPart: break
                    }
                }
            }
            try decoder.finish()
            let input = LargeInput(form, size: size)
            let hasTooMany = await input.read { form in
                form.parts.contains { CombiningMarks.areTooMany(in: $0.content.readableBytesView) }
            }
            guard !hasTooMany else {
                throw ScribeError.invalidRequest(field: nil, problem: "has too many combining marks in a row")
            }
            return input
        } catch is FormDecoder.Malformed {
            throw ScribeError.invalidRequest(field: nil, problem: "must be a whole multipart/form-data form")
        }
    }

    /// The bytes of a field; nil if absent or empty.
    package func part(_ name: String) -> ByteBufferView? {
        guard let content = parts.first(where: { $0.part.name == name && $0.content.readableBytes > 0 })?.content else {
            return nil
        }
        EventLoopOffload.watch(bytes: content.readableBytes, of: "a form's field")
        return content.readableBytesView
    }

    /// The text of a field; nil if absent or empty.
    package func text(_ name: String) -> String? {
        part(name).map { String(decoding: $0, as: UTF8.self) }
    }

    /// Whether the request's body is a multipart form.
    package static func isForm(_ request: Request) -> Bool {
        request.headers.value(of: .contentType)?.lowercased().hasPrefix("multipart/form-data") == true
    }
}
