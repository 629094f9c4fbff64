import HTTPTypes
import Hummingbird
import NIOCore
import Testing

@testable import ScribeHTTP

struct FamilyTableTests {
    private struct API: RoutedAPI {
        let name: String
        var hostSuffixes: [String] = []
        var reservedPaths: [[Substring]] = []
        let paths: [String]
        let errors: any ErrorTable = StatusLikeErrors()

        func addRoutes(to routes: RouteGroup) {
            for path in paths { routes.get(path) { _, _ in Response(status: .ok) } }
        }
    }

    private let table = FamilyTable([
        RoutedFamily(API(name: "first", hostSuffixes: [".first.example"], paths: ["v1/a/b/{id}", "v1/c"])),
        RoutedFamily(
            API(name: "second", hostSuffixes: [".example"], reservedPaths: [["admin"]], paths: ["v1/a/{id}", "v1/c/d"])),
    ])

    @Test(
        "the longest beginning of a path decides, then the host, then the first word; of equal claims the first family's",
        arguments: [
            ("/v1/a/b/1", "", "first path(words: 3)"), ("/v1/a/x/1", "", "first path(words: 2)"),
            ("/v1/a", "", "first path(words: 3)"), ("/v1/c/d/e", "", "second path(words: 3)"),
            ("/v1/c/x", "", "first path(words: 2)"), ("/v1/x", "", "none"),
            ("/v1/x", "api.first.example:80", "first host"), ("/v1/x", "API.other.EXAMPLE", "second host"),
            ("/admin", "api.first.example", "second path(words: 3)"), ("/admin/x", "api.first.example", "first host"),
            ("/admin/x", "", "second word"), ("/x", "", "none"), ("/", "", "none"),
        ])
    func claims(path: String, host: String, expected: String) {
        let head = HTTPRequest(method: .get, scheme: "http", authority: host, path: path)
        let found = table.family(of: RequestAddress(Request(head: head, body: .init(buffer: ByteBuffer()))))
        #expect(found.map { "\($0.family.name) \($0.claim)" } ?? "none" == expected)
    }
}
