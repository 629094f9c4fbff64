import Basics
import HTTPTypes
import Hummingbird
import NIOCore

/// Encodes S3's XML answers: elements with text or with child elements.
struct XMLElement: Hashable, Sendable {
    private enum Content: Hashable, Sendable {
        case text(String)
        case elements([XMLElement])
    }

    private let name: String
    private let content: Content
    /// Attributes as they are written, each after a space.
    private let attributes: String

    /// - Parameter namespace: XML namespace, for the root element.
    init(_ name: String, namespace: String? = nil, _ text: String) {
        self.init(name, .text(text), Self.declaration(of: namespace))
    }

    /// - Parameter namespace: XML namespace, for the root element.
    init(_ name: String, namespace: String? = nil, attributes: String = "", _ elements: [XMLElement]) {
        self.init(name, .elements(elements), Self.declaration(of: namespace) + attributes)
    }

    private init(_ name: String, _ content: Content, _ attributes: String) {
        self.name = name
        self.content = content
        self.attributes = attributes
    }

    private static func declaration(of namespace: String?) -> String { namespace.map { " xmlns=\"\($0)\"" } ?? "" }

    /// XML namespace of S3's answers.
    static let s3Namespace = "http://s3.amazonaws.com/doc/2006-03-01/"

    func response(_ status: HTTPResponse.Status) -> Response {
        var text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        write(to: &text)
        return Response(
            status: status, headers: [.contentType: "application/xml"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: text))
        )
    }

    private func write(to text: inout String) {
        text += "<\(name)\(attributes)>"
        switch content {
        case .text(let value): text += value.escapedForMarkup
        case .elements(let elements): for element in elements { element.write(to: &text) }
        }
        text += "</\(name)>"
    }
}
