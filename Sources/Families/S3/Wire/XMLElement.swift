import Basics
import HTTPTypes
import Hummingbird
import NIOCore

/// Encodes S3's XML answers: elements with text or with child elements.
struct XMLElement: Sendable {
    private enum Content: Sendable {
        case text(String)
        case elements([XMLElement])
    }

    private let name: String
    private let content: Content
    private let namespace: String?

    init(_ name: String, _ text: String) {
        self.name = name
        content = .text(text)
        namespace = nil
    }

    /// - Parameter namespace: XML namespace, for the root element.
    init(_ name: String, namespace: String? = nil, _ elements: [XMLElement]) {
        self.name = name
        content = .elements(elements)
        self.namespace = namespace
    }

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
        text += "<\(name)"
        if let namespace { text += " xmlns=\"\(namespace)\"" }
        text += ">"
        switch content {
        case .text(let value): text += value.escapedForMarkup
        case .elements(let elements): for element in elements { element.write(to: &text) }
        }
        text += "</\(name)>"
    }
}
