import Basics
import Foundation
import Logging
import TestSupport
import Testing

@testable import ScribeHTTP
@testable import scribe_emulator

struct LineLogHandlerTests {
    let clock = ManualClock()

    func line(_ format: LogFormat, _ metadata: Logger.Metadata) -> String {
        var handler = LineLogHandler(format: format, clock: clock.clock, logLevel: .info, write: { _ in })
        handler[metadataKey: "request_id"] = "r-1"
        let event = LogEvent(
            level: .info, message: "GET /livez 200", metadata: metadata, source: "test", file: "", function: "", line: 1
        )
        return String(decoding: handler.line(of: event), as: UTF8.self)
    }

    @Test("a JSON log line writes numbers as numbers, and texts of digits as texts")
    func numbers() {
        let line = line(
            .json, ["status": .stringConvertible(200), "ms": .stringConvertible(1.5), "txn_id": "42"])
        #expect(line.contains(#""status":200"#))
        #expect(line.contains(#""ms":1.5"#))
        #expect(line.contains(#""txn_id":"42""#))
        #expect(line.contains(#""request_id":"r-1""#))
        #expect(line.contains(#""level":"info","message":"GET /livez 200""#))
    }

    @Test("a JSON log line has its members in the order of their names, and its own before metadata of the same name")
    func order() {
        let line = line(.json, ["message": "other", "request_id": "r-2", "zone": "z", "a\"b": "\u{1}"])
        let time = clock.clock.now.iso8601Milliseconds
        #expect(
            line == """
                {"a\\"b":"\\u0001","level":"info","message":"GET /livez 200","request_id":"r-2","time":"\(time)","zone":"z"}
                """)
    }

    @Test("the line of a request is the one that its metadata would give", arguments: [nil, "4bf92f3577b34da6"])
    func requests(trace: String?) throws {
        let lines = LockedValue<[UInt8]>([])
        let handler = LineLogHandler(format: .json, clock: clock.clock, logLevel: .info) { bytes in
            lines.withLock { $0 += bytes }
        }
        let write = try #require(handler.writeRequest)
        write(
            RequestLine(
                method: "GET", route: "/livez", status: 200, milliseconds: 1.5, requestID: "r-1", traceID: trace,
                time: clock.clock.now))
        var metadata: Logger.Metadata = [
            "method": "GET", "route": "/livez", "status": .stringConvertible(200), "ms": .stringConvertible(1.5),
        ]
        metadata["trace_id"] = trace.map { "\($0)" }
        #expect(String(decoding: lines.withLock { $0 }, as: UTF8.self) == line(.json, metadata) + "\n")
        #expect(
            LineLogHandler(format: .json, clock: clock.clock, logLevel: .notice) { _ in }.writeRequest == nil
                && LineLogHandler(format: .text, clock: clock.clock, logLevel: .info) { _ in }.writeRequest == nil)
    }

    @Test("a text log line appends the metadata that its message lacks as NAME=VALUE")
    func text() {
        let line = line(.text, ["status": .stringConvertible(200), "ms": .stringConvertible(1.5), "trace_id": "abc"])
        #expect(line.hasSuffix("info    GET /livez 200 ms=1.5 request_id=r-1 trace_id=abc"))
    }
}
