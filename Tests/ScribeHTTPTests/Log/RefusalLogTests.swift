import Basics
import Foundation
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import NIOEmbedded
import ServerTestSupport
import Testing

@testable import ScribeHTTP

struct RefusalLogTests {
    private struct Line: Sendable {
        let message: String
        let metadata: [String: String]
    }

    private struct Remembering: LogHandler {
        let lines: Box<[Line]>
        var logLevel = Logger.Level.info
        var metadata: Logger.Metadata = [:]

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let line = Line(
                message: "\(event.message)", metadata: (event.metadata ?? [:]).mapValues { "\($0)" })
            lines.set(lines.value + [line])
        }
    }

    /// A family that refuses everything, and one whose every path is free.
    private struct API: RoutedAPI {
        let name = "Test"

        let errors: any ErrorTable = Errors()

        func addRoutes(to routes: RouteGroup) {
            routes.add(.post, "voice/init/{id}") { _, _ in Response(status: .ok) }
        }
    }

    private struct Errors: ErrorTable {
        func refusal(for error: any Error, shared: Refusal, _ context: ScribeContext) -> Refusal? { nil }
        func envelope(_ refusal: Refusal, _ context: ScribeContext) -> JSON { [:] }
    }

    private let lines = Box<[Line]>([])
    private let log = RefusalLog(families: [RoutedFamily(API())])

    private func explain(
        _ path: String, authority: String = "localhost:8087", headers: HTTPFields = [:],
        _ status: HTTPResponse.Status = .notFound, route: String? = "NotFound", at second: Double = 0,
        _ note: (RefusalFacts) -> Void
    ) {
        let logger = Logger(label: "test") { [lines] _ in Remembering(lines: lines) }
        let context = ScribeContext(source: .init(channel: EmbeddedChannel(), logger: logger))
        context.coreContext.endpointPath.value = route
        let head = HTTPRequest(
            method: .post, scheme: "http", authority: authority, path: path, headerFields: headers)
        let explanation = RefusalFacts()
        note(explanation)
        log.log(
            explanation, of: Request(head: head, body: .init(buffer: ByteBuffer())), status, context,
            at: Date(timeIntervalSince1970: second))
    }

    @Test("the log line of an unrouted request has path, host, family, claim and nearest route, without the query")
    func unrouted() throws {
        explain("/voice/inti/t?token=secret", headers: [.authorization: "Bearer secret"]) {
            $0.note(family: "Test", .word)
            $0.note(reason: "No such route")
        }
        let line = try #require(lines.value.first)
        #expect(line.message == "POST /voice/inti/… 404: No such route")
        #expect(line.metadata["path"] == "/voice/inti/…")
        #expect(line.metadata["host"] == "localhost")
        #expect(line.metadata["family"] == "Test")
        #expect(line.metadata["claim"] == "first word of the path")
        #expect(line.metadata["nearest"]?.hasPrefix("POST /voice/init/") == true)
        #expect(!"\(line)".contains("secret"))
    }

    @Test("the log hides words of an unrouted path at a route's parameters and behind a mistyped word")
    func names() {
        for path in ["/voice/inti/Asha-Rao-1975", "/voice/init/Asha-Rao-1975/1975-04-01", "/vioce/Asha-Rao-1975/init"] {
            for claim in [RouteClaim.host, .word] { explain(path) { $0.note(family: "Test", claim) } }
        }
        let paths = ["/voice/inti/…", "/voice/init/…/…", "/vioce/…/init"]
        #expect(lines.value.compactMap { $0.metadata["path"] } == paths.flatMap { [$0, $0] })
        #expect(!"\(lines.value)".contains("1975"))
    }

    @Test("the log line of a refusal has its reason and the route's pattern, without the parameters")
    func refused() throws {
        explain("/voice/init/a-ticket", .badRequest, route: "/voice/init/{id}") {
            $0.note(family: "Test", .path(words: 2))
            $0.note(reason: "Field 'transfer' is required\n")
        }
        let line = try #require(lines.value.first)
        #expect(line.message == "POST /voice/init/{id} 400: Field 'transfer' is required ")
        #expect(line.metadata["nearest"] == nil)
        #expect(!"\(line)".contains("a-ticket"))
    }

    @Test("the log cuts a field's name below a list's entry, because a client may have chosen it")
    func fields() throws {
        explain("/voice/init/t", .badRequest, route: "/voice/init/{id}") {
            $0.note(family: "Test", .path(words: 2))
            $0.note(reason: "Field 'chunk_info.0.jane-doe.m4a.st' must be a number")
        }
        let line = try #require(lines.value.first)
        #expect(line.message == "POST /voice/init/{id} 400: Field 'chunk_info.0.…' must be a number")
    }

    @Test("the log leaves out object keys and words that may be names or tokens")
    func keys() throws {
        explain("/m-prod-voice-record/jane/1.m4a", .forbidden, route: "S3") {
            $0.note(family: "S3", .rest)
            $0.noteKey()
        }
        explain("/jane/1.m4a", authority: "b.s3.amazonaws.com", .forbidden, route: "S3") {
            $0.note(family: "S3", .address)
        }
        explain("/clinic/voice/jane-doe.m4a", .forbidden, route: "S3") { $0.note(family: "S3", .rest) }
        explain("/voice/Jane%20Doe/\(String(repeating: "a", count: 64))") { $0.note(family: "Test", .word) }
        let paths = lines.value.map { $0.metadata["path"] }
        #expect(paths == ["/m-prod-voice-record/…", "/…", "/clinic/voice/…", "/voice/…/…"])
    }

    @Test("the log names an origin that may not read an answer, also if the answer is a success")
    func origin() throws {
        explain("/voice/init/t", .ok, route: "/voice/init/{id}") {
            $0.note(family: "Test", .path(words: 2))
            $0.note(foreignOrigin: "https://app.example")
        }
        let line = try #require(lines.value.first)
        #expect(line.metadata["origin"] == "https://app.example")
        #expect(line.message.contains("--cors-origins"))
    }

    @Test("successes and failures of the server have no line in the log of refusals")
    func silent() {
        for status in [HTTPResponse.Status.ok, .found, .internalServerError, .serviceUnavailable] {
            explain("/voice/init/t", status, route: "/voice/init/{id}") { $0.note(family: "Test", .path(words: 2)) }
        }
        #expect(lines.value.isEmpty)
    }

    @Test("the log writes ten refusals a second, and then how many were left out")
    func limit() {
        for _ in 0..<25 { explain("/voice/x") { $0.note(family: "Test", .word) } }
        #expect(lines.value.count == 10)
        for _ in 0..<2 { explain("/voice/x", at: 1) { $0.note(family: "Test", .word) } }
        #expect(lines.value.count == 12)
        #expect(lines.value.suffix(2).map { $0.metadata["left_out"] } == ["15", nil])
    }
}
