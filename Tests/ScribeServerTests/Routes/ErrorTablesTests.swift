import Basics
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import NIOEmbedded
import ScribeDomain
import ServerTestSupport
import TestSupport
import Testing

@testable import Alliance
@testable import Control
@testable import Eka
@testable import Listen
@testable import Omi
@testable import S3
@testable import ScribeHTTP
@testable import Status
@testable import Suki

/// Every refusal of every family, as it goes over the wire: `errors.txt` beside this file.
struct ErrorTablesTests {
    private static let failures: [ScribeError] = [
        .invalidRequest(field: "a.0", problem: "must be a string"),
        .invalidRequest(field: nil, problem: "must be JSON"),
        .tooLarge(limit: 10), .transactionLimitExceeded, .storageQuotaExceeded, .transactionAlreadyInitialized,
        .transactionNotFound, .transactionCancelled, .transactionNeverCommitted, .sessionEnded, .sessionCompleted,
        .sessionExpired, .resultNotFound, .invalidState("The state does not allow it"),
        .resourceNotFound("No such thing"), .feedbackAlreadySubmitted, .refusedOnPurpose,
        .storageUnavailable(cause: "full"),
    ]
    private static let problems: [HTTPProblem] = [
        .unauthenticated(reason: "The token is expired"), .foreignPage, .notJSON, .encodedBody("gzip"),
        .bodyTooLarge(limit: 10),
        .routeNotFound(hint: "No such route"), .methodNotAllowed(allowed: ["GET", "PUT"]), .busy(retryAfter: 2),
        .tooManyAttempts(retryAfter: 3),
    ]
    private static let tables: [(String, any ErrorTable, [any Error])] = [
        ("session protocol", AllianceErrors(), OwnErrors.alliance), ("control", ControlErrors(), OwnErrors.control),
        ("transaction API", EkaErrors(), OwnErrors.eka + OwnErrors.devices),
        ("transaction API, a text as error", EkaErrors(asText: true), OwnErrors.eka),
        ("login", AccountErrors(), OwnErrors.eka), ("templates", TemplateErrors(), OwnErrors.eka),
        ("whole files", FileUploadErrors(), OwnErrors.eka), ("connect", ConnectErrors(), OwnErrors.connect),
        ("listen", ListenErrors(), OwnErrors.listen), ("subq", ListenErrors(speaksSubQ: true), OwnErrors.listen),
        ("omi", OmiErrors(), OwnErrors.omi), ("status", StatusErrors(), []),
        ("suki", SukiErrors(), OwnErrors.suki),
        ("suki, contexts", SukiErrors(invalid: "invalid_context_request"), OwnErrors.contexts),
        ("suki, feedback", SukiErrors(invalid: "invalid_feedback_request"), []),
    ]

    @Test("errors.txt lists exactly the refusals of every family")
    func golden() async throws {
        var lines: [String] = []
        for (name, table, own) in Self.tables {
            lines.append("# \(name)")
            for failure in Self.failures {
                lines.append(try await line("\(failure)", table.response(to: failure, Self.context())))
            }
            for problem in Self.problems {
                lines.append(try await line("\(problem)", table.response(to: problem, Self.context())))
            }
            for error in own {
                guard let refusal = table.refusal(for: error, Self.context()) else { continue }
                lines.append(try await line("\(error)", table.response(refusal, Self.context())))
            }
            let ours = Refusal.internalError(Self.context())
            lines.append(try await line("internal error", table.response(ours, Self.context())))
        }
        lines += try await objects()
        let text = lines.joined(separator: "\n") + "\n"
        let path = projectFile("Tests/ScribeServerTests/errors.txt")
        if ProcessInfo.processInfo.environment["SCRIBE_WRITE_PAGES"] != nil {
            try Data(text.utf8).write(to: path)
        }
        let expected = try String(contentsOf: path, encoding: .utf8)
        #expect(text.split(separator: "\n") == expected.split(separator: "\n"))
    }

    /// The same of S3, which has no table.
    private func objects() async throws -> [String] {
        let head = HTTPRequest(method: .get, scheme: "http", authority: "localhost", path: "/bucket/key")
        let request = Request(head: head, body: .init(buffer: ByteBuffer()))
        var lines = ["# S3"]
        var errors: [any Error] = Self.failures
        errors += Self.problems as [any Error]
        for error in errors + OwnErrors.s3 {
            let refusal = S3Responder.error(thrown: error, Self.context())
            let name = (error as? S3Error)?.code ?? "\(error)"
            lines.append(try await line(name, refusal.response(to: request, context: Self.context())))
        }
        return lines
    }

    private static func context() -> ScribeContext {
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        return ScribeContext(source: .init(channel: EmbeddedChannel(), logger: logger))
    }

    /// The error, the status, the headers beside the length, and the body: JSON with sorted members, or XML.
    private func line(_ name: String, _ response: Response) async throws -> String {
        let writer = CollectingWriter()
        try await response.body.write(writer)
        let headers = response.headers.filter { $0.name != .contentLength }
            .map { "\($0.name.canonicalName): \($0.value)" }.sorted()
        var bytes = writer.bytes.value
        if response.headers[.contentType] != "application/xml" {
            var body = JSONText()
            body.write(try JSONDocument(Data(bytes)).value)
            bytes = body.bytes
        }
        let body = String(decoding: bytes, as: UTF8.self).replacing("\n", with: " ")
        return ([name, "\(response.status.code)"] + headers + [body]).joined(separator: " | ")
    }

    private struct CollectingWriter: ResponseBodyWriter {
        let bytes = Box<[UInt8]>([])

        func write(_ buffer: ByteBuffer) async throws { bytes.set(bytes.value + buffer.readableBytesView) }
        consuming func finish(_ trailingHeaders: HTTPFields?) async throws {}
    }
}
