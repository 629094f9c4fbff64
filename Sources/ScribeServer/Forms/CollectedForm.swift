import Hummingbird
import NIOCore
import ScribeDomain

/// A small form, read as a whole.
struct CollectedForm: Sendable {
    private(set) var fields: [String: ByteBuffer] = [:]
    private(set) var files: [String: FormPart] = [:]

    /// - Throws: ``ScribeError/invalidRequest(field:problem:)``, ``ScribeError/bodyTooLarge(limit:)``.
    init(_ request: Request, limit: Int) async throws {
        guard var decoder = request.headers[.contentType].flatMap(FormDecoder.init(contentType:)) else {
            throw ScribeError.invalidRequest(field: nil, problem: "must be multipart/form-data")
        }
        var size = 0
        var current: FormPart?
        do {
            for try await buffer in request.body {
                size += buffer.readableBytes
                guard size <= limit else { throw ScribeError.bodyTooLarge(limit: limit) }
                for event in try decoder.decode(buffer) {
                    switch event {
                    case .part(let part):
                        current = part
                        fields[part.name] = ByteBuffer()
                        if part.fileName != nil { files[part.name] = part }
                    case .data(var data):
                        if let current { fields[current.name]?.writeBuffer(&data) }
                    case .endOfPart: current = nil
                    }
                }
            }
            try decoder.finish()
        } catch is FormDecoder.Malformed {
            throw ScribeError.invalidRequest(field: nil, problem: "must be a whole multipart/form-data form")
        }
    }

    /// The text of a field.
    func text(_ name: String) -> String? { fields[name].map { String(buffer: $0) } }

    /// Whether a request has a form as its body.
    static func isForm(_ request: Request) -> Bool {
        request.headers[.contentType]?.lowercased().hasPrefix("multipart/form-data") == true
    }
}
