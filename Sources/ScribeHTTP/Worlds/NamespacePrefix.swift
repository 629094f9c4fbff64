import HTTPTypes
package import Hummingbird
import Journal
package import ScribeDomain
import ScribeRuntime

/// Path prefix `/ns/NAME` of a request, and the path as the client sent it.
package struct NamespacePrefix: Hashable, Sendable {
    /// The prefix as sent, without a slash at its end.
    package let text: String
    /// The namespace; nil for a text that is no name.
    package let name: NamespaceName?
    /// The whole path as sent, without the query: AWS signatures cover it.
    package let sentPath: String

    private static let start = "/ns/"

    /// Reads the prefix of a request.
    /// - Returns: nil for a path without it.
    init?(_ request: Request) {
        guard let path = request.head.path, path.hasPrefix(Self.start) else { return nil }
        let rest = path.utf8.dropFirst(Self.start.utf8.count)
        let end = rest.firstIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") } ?? path.utf8.endIndex
        name = NamespaceName(Substring(rest[..<end]))
        text = String(Substring(path.utf8[..<end]))
        sentPath = String(path.prefix { $0 != "?" })
    }

    /// The request without its prefix.
    func removed(from request: Request) -> Request {
        var head = request.head
        head.path = Exchange.path(head.path ?? "", without: text)
        return Request(head: head, body: request.body)
    }
}

/// Removes the prefix `/ns/NAME` from paths, before any other layer sees them.
package struct NamespaceRouting<Next: HTTPResponder>: HTTPResponder where Next.Context == ScribeContext {
    private let next: Next
    private let directory: WorldDirectory

    package init(next: Next, directory: WorldDirectory) {
        self.next = next
        self.directory = directory
    }

    package func respond(to request: Request, context: ScribeContext) async throws -> Response {
        guard let prefix = NamespacePrefix(request), isPrefix(prefix, of: request) else {
            return try await next.respond(to: request, context: context)
        }
        context.namespacePrefix = prefix
        return try await next.respond(to: prefix.removed(from: request), context: context)
    }

    /// Whether the path does not name an object. On a bucket's host an object's key may begin with `ns/`.
    private func isPrefix(_ prefix: NamespacePrefix, of request: Request) -> Bool {
        guard AudioLocation.bucket(ofVirtualHost: request.authority) != nil else { return true }
        return prefix.name.map { directory[$0] != nil } ?? false
    }
}
