import Documents
import HTTPTypes
import Hummingbird
import Mustache
import NIOCore
import ScribeDomain
import ScribeHTTP

/// Templates, style sheet and scripts of the console, from `console/`.
///
/// Templates escape what they show. Three braces are for pictures that the server draws.
struct ConsoleViews: Sendable {
    /// Values of a template, by name.
    typealias Model = [String: Any]

    private static let policy =
        "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; connect-src 'self' ws: wss:; "
        + "media-src 'self' blob:; worker-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"

    /// Parsed at first use: most servers never show a page.
    private static let library: MustacheLibrary = {
        var library = MustacheLibrary()
        for (name, text) in files where name.hasSuffix(".mustache") {
            do {
                try library.register(String(decoding: text, as: UTF8.self), named: String(name.dropLast(9)))
            } catch {
                preconditionFailure("console/views/\(name): \(error)")
            }
        }
        return library
    }()

    private static let files: [String: [UInt8]] = Dictionary(
        uniqueKeysWithValues: (0..<console_file_count()).map { index in
            let file = console_file(index)
            return (String(cString: file.name), file.document.bytes)
        })

    private static let types = [
        "css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8", "svg": "image/svg+xml",
    ]

    /// A style sheet, a script or a picture. Browsers keep them for this session only, as all that the console sends.
    func asset(_ name: String) -> Response {
        let type = name.split(separator: ".").last.flatMap { Self.types[String($0)] } ?? "text/plain"
        return Response(
            status: .ok,
            headers: [
                .contentType: type, .cacheControl: "private, max-age=60",
                .contentSecurityPolicy: "default-src 'none'; style-src 'unsafe-inline'",
            ],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: Self.files[name] ?? [])))
    }

    /// Renders a template.
    static func text(_ name: String, _ model: Model) -> String {
        guard let text = library.render(sections(model), withTemplate: name) else {
            preconditionFailure("there is no template \(name)")
        }
        return text
    }

    /// The values with empty texts as nothing, so that a section about a text is left out without one.
    private static func sections(_ value: Any) -> Any {
        switch value {
        case let model as Model: model.mapValues(sections)
        case let values as [Any]: values.map(sections)
        case let text as String where text.isEmpty: Nothing()
        default: value
        }
    }

    private struct Nothing: MustacheCustomRenderable {
        var renderText: String { "" }
        var isNull: Bool { true }
    }

    /// Renders a page.
    func page(_ text: String, status: HTTPResponse.Status = .ok) -> Response {
        Response(
            status: status,
            headers: [.contentType: "text/html; charset=utf-8", .contentSecurityPolicy: Self.policy],
            body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
    }
}

extension JSONValue {
    /// The elements of an array; nil for any other value.
    var arrayValue: [JSONValue]? {
        guard case .array(let values) = self else { return nil }
        return values
    }

    /// A whole number; nil for any other value.
    var integerValue: Int? {
        guard case .integer(let value) = self else { return nil }
        return Int(exactly: value)
    }

    /// The value for a template: objects and arrays as such, numbers and texts as texts.
    var forView: Any {
        switch self {
        case .object(let members): members.mapValues(\.forView)
        case .array(let values): values.map(\.forView)
        case .bool(let value): value
        case .string(let text): text
        case .null: Optional<String>.none as Any
        default: scalarText ?? ""
        }
    }
}
