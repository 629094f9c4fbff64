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
        .unauthenticated(reason: "The token is expired"), .foreignPage, .notJSON, .bodyTooLarge(limit: 10),
        .routeNotFound(hint: "No such route"), .methodNotAllowed(allowed: ["GET", "PUT"]), .busy(retryAfter: 2),
        .tooManyAttempts(retryAfter: 3),
    ]
    private static let eka: [any Error] = [
        EkaError.invalidClient, EkaError.invalidCredentials, EkaError.refreshRefused, EkaError.audioLocationRequired,
        EkaError.batchLocationRequired, EkaError.linkRefused, EkaError.polledTransactionNotFound,
    ]
    private static let tables: [(String, any ErrorTable, [any Error])] = [
        (
            "session protocol", AllianceErrors(),
            [
                AllianceError.malformed("It cannot be"), AllianceError.invalidTemplate, AllianceError.templateNotFound,
                AllianceError.documentNotFound, AllianceError.webhookNotFound, AllianceError.tooManyWebhooks,
                AllianceError.alreadyCommitted, AllianceError.chunkTooLarge,
                AllianceError.invalidAudioFormat("audio/x"),
                AllianceError.unknownLink, AllianceError.audioNotEnabled, AllianceError.audioNotAvailable,
                AllianceError.upgradeRequired,
            ]
        ),
        ("control", ControlErrors(), []), ("transaction API", EkaErrors(), eka), ("login", AccountErrors(), eka),
        ("templates", TemplateErrors(), eka), ("whole files", FileUploadErrors(), eka),
        (
            "connect", ConnectErrors(),
            [ConnectError.alreadyRegistered, ConnectError.tooMany, ConnectError.unknownWebhook]
        ),
        ("listen", ListenErrors(), []), ("subq", ListenErrors(speaksSubQ: true), []), ("omi", OmiErrors(), []),
        ("status", StatusErrors(), []),
        ("suki", SukiErrors(), [SukiError.notRegistered, SukiError.upgradeRequired]),
    ]

    @Test("every family's refusals are those of errors.txt")
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
        let text = lines.joined(separator: "\n") + "\n"
        let path = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("errors.txt")
        if ProcessInfo.processInfo.environment["SCRIBE_WRITE_PAGES"] != nil {
            try Data(text.utf8).write(to: path)
        }
        let expected = try String(contentsOf: path, encoding: .utf8)
        #expect(text.split(separator: "\n") == expected.split(separator: "\n"))
    }

    private static func context() -> ScribeContext {
        ScribeContext(source: .init(channel: EmbeddedChannel(), logger: Logger(label: "test")))
    }

    /// The error, the status, the headers beside the type and length, and the body with sorted members.
    private func line(_ name: String, _ response: Response) async throws -> String {
        let writer = CollectingWriter()
        try await response.body.write(writer)
        let headers = response.headers.filter { ![.contentType, .contentLength].contains($0.name) }
            .map { "\($0.name.canonicalName): \($0.value)" }.sorted()
        var body = JSONText()
        body.write(try JSONDecoder().decode(JSONValue.self, from: Data(writer.bytes.value)))
        return ([name, "\(response.status.code)"] + headers + [String(decoding: body.bytes, as: UTF8.self)])
            .joined(separator: " | ")
    }

    private struct CollectingWriter: ResponseBodyWriter {
        let bytes = Box<[UInt8]>([])

        func write(_ buffer: ByteBuffer) async throws { bytes.set(bytes.value + buffer.readableBytesView) }
        consuming func finish(_ trailingHeaders: HTTPFields?) async throws {}
    }
}
