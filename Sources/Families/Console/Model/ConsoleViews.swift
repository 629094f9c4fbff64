import Basics
import Documents
import Foundation
import HTTPTypes
import Hummingbird
import Mustache
import NIOCore
import ScribeHTTP

/// Templates, style sheet and scripts of the console, from `console/`.
///
/// Every text of a model is escaped before a template sees it, scalar by scalar: a character that joins its neighbour,
/// such as U+0301, hides no bracket. Only ``Markup`` stays as it is.
struct ConsoleViews: Sendable {
    /// Values of a template, by name.
    typealias Model = [String: Any]

    /// Text that is markup of the server's own.
    struct Markup: Hashable, Sendable, MustacheCustomRenderable {
        let renderText: String
        var isNull: Bool { renderText.isEmpty }
    }

    /// The policy of a page. Its scripts have a value that only the page knows: files that clients have uploaded are of
    /// the same origin. The recorder's script is a blob, because browsers give none to its kind.
    private static func policy(_ nonce: String) -> String {
        "default-src 'none'; style-src 'self'; script-src 'nonce-\(nonce)' blob:; img-src 'self' data:; "
            + "connect-src 'self' ws: wss:; media-src 'self' blob:; frame-ancestors 'none'; base-uri 'none'; "
            + "form-action 'none'"
    }

    /// Parsed at first use: most servers never show a page.
    private static let library: MustacheLibrary = {
        var library = MustacheLibrary()
        for (name, text) in files where name.hasSuffix(".mustache") {
            do {
                let template = "{{% CONTENT_TYPE: TEXT}}" + String(decoding: text, as: UTF8.self)
                try library.register(template, named: String(name.dropLast(9)))
            } catch {
                preconditionFailure("console/views/\(name): \(error)")
            }
        }
        return library
    }()

    static let files: [String: [UInt8]] = Dictionary(
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
            body: ResponseBody(shared: Self.files[name] ?? []))
    }

    /// Speech of the demo.
    static var sample: Response {
        Response(
            status: .ok, headers: [.contentType: "audio/ogg", .contentSecurityPolicy: "sandbox; default-src 'none'"],
            body: ResponseBody(shared: document_consultation().bytes))
    }

    /// Renders a template.
    static func text(_ name: String, _ model: Model) -> String {
        guard let text = library.render(escaped(model), withTemplate: name) else {
            preconditionFailure("there is no template \(name)")
        }
        return text
    }

    /// The values with their texts escaped. An empty text is nothing, so that a section about it is left out.
    private static func escaped(_ value: Any) -> Any {
        switch value {
        case let model as Model: model.mapValues(escaped)
        case let values as [Any]: values.map(escaped)
        case is Bool, is Int, is Markup: value
        case let text as String: Markup(renderText: text.escapedForMarkup(singleQuotes: true))
        default: Markup(renderText: String(describing: value).escapedForMarkup(singleQuotes: true))
        }
    }

    /// A time in UTC, which the page's script shows in the browser's zone.
    /// - Parameter isClock: Whether the time is shown with milliseconds and without its day.
    static func moment(_ time: Date, isClock: Bool = false) -> Markup {
        let exact = time.iso8601Milliseconds
        let clock = exact.dropFirst(11)
        let text = isClock ? String(clock.prefix(12)) : "\(exact.prefix(10)) \(clock.prefix(8)) UTC"
        return Markup(
            renderText: "<time datetime=\"\(exact)\" data-shown=\"\(isClock ? "clock" : "day")\">\(text)</time>")
    }

    /// A time of the operator API; an empty text for none.
    static func moment(_ value: JSONValue?) -> Markup {
        value?.stringValue.flatMap { Date(iso8601: $0) }.map { moment($0) } ?? Markup(renderText: "")
    }

    /// Renders a page.
    /// - Parameter nonce: value that the page's scripts have.
    func page(_ text: String, nonce: String, status: HTTPResponse.Status = .ok) -> Response {
        Response(
            status: status,
            headers: [.contentType: "text/html; charset=utf-8", .contentSecurityPolicy: Self.policy(nonce)],
            body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
    }
}

extension JSONValue {
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
