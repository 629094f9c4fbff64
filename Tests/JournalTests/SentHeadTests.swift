import Foundation
import HTTPTypes
import Testing

@testable import Journal

/// A recorded request whose bytes are read when someone looks.
struct SentHeadTests {
    private func request(_ text: String, prefix: String = "") -> HTTPRequest {
        let head = RecordedHead.bytes(SentHead(Array(text.utf8), isSecure: true))
        let exchange = Exchange(
            .request, head, at: .init(timeIntervalSince1970: 0), prefix: prefix, requestID: "")
        return exchange.request
    }

    @Test("method, address and fields are read, and the first host is the authority")
    func reads() {
        let request = request(
            "PATCH /a?b=c%20d HTTP/1.1\r\nHost: a.example:1\r\nX-One:1\r\nx-one: \t2 2\t \r\nEmpty:\r\n\r\n")
        #expect(request.method == .patch)
        #expect(request.scheme == "https")
        #expect(request.authority == "a.example:1")
        #expect(request.path == "/a?b=c%20d")
        #expect(request.headerFields.map { "\($0.name.rawName)=\($0.value)" } == ["X-One=1", "x-one=2 2", "Empty="])
    }

    @Test("empty lines before the request are passed over, and lines may end without a carriage return")
    func lines() {
        let request = request("\r\n\r\nGET / HTTP/1.1\nhost: a\r\nx: y\n\r\n")
        #expect(request.path == "/")
        #expect(request.authority == "a")
        #expect(request.headerFields.count == 1)
    }

    @Test("what follows the head is not read")
    func rest() {
        let head = "POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n0\r\nx: y\r\n\r\n"
        #expect(request(head).headerFields.map(\.name) == [.transferEncoding])
    }

    @Test(
        "the path is shown without the prefix of its namespace",
        arguments: [("/ns/a/b?c", "/b?c"), ("/ns/a", "/"), ("/ns/a?c", "/?c"), ("/ns/a/", "/")])
    func prefix(path: String, shown: String) {
        #expect(request("GET \(path) HTTP/1.1\r\nhost: a\r\n\r\n", prefix: "/ns/a").path == shown)
    }

    @Test("bytes that are no text trap nothing", arguments: ["", "\r\n\r\n", "GET", "GET \r\n:\r\n: a\r\n \r\n\r\n"])
    func nonsense(text: String) { #expect(request(text).headerFields.isEmpty) }
}
