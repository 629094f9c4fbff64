import Basics
import Dispatch
import Foundation
import Logging
import TestSupport
import Testing

@testable import scribe_emulator

struct LogBufferTests {
    /// A log that nobody reads until the test lets it be read.
    private final class StuckLog: Sendable {
        let lines = LockedValue<[String]>([])
        private let reading = DispatchSemaphore(value: 0)
        private let begin = AsyncStream<Void>.makeStream()

        func write(_ line: [UInt8]) {
            begin.continuation.yield()
            reading.wait()
            reading.signal()
            lines.withLock { $0.append(String(decoding: line, as: UTF8.self)) }
        }

        func read() { reading.signal() }

        /// Returns once the buffer has begun to write a line.
        func hasBegun() async {
            for await _ in begin.stream { return }
        }
    }

    private let manual = ManualClock()
    private let log = StuckLog()
    private let buffer: LogBuffer

    init() {
        buffer = LogBuffer(limit: 100, output: log.write) { Array("\($0) dropped".utf8) }
    }

    @Test("writers do not wait for a log that nobody reads, and lines beyond the limit are counted and said")
    func stuck() async {
        buffer.write(Array("line 100 ".utf8))
        await log.hasBegun()
        for number in 101..<200 { buffer.write(Array("line \(number) ".utf8)) }
        log.read()
        await buffer.flush(by: manual.clock)
        let written = log.lines.withLock { $0 }
        #expect(written == ["line 100 ", (101..<111).map { "line \($0) " }.joined(), "89 dropped"])
        buffer.write(Array("again".utf8))
        await buffer.flush(by: manual.clock)
        #expect(log.lines.withLock { $0.last } == "again")
    }

    @Test("the end waits a second for a log that nobody reads, and no longer")
    func end() async throws {
        buffer.write(Array("line".utf8))
        async let end: Void = buffer.flush(by: manual.clock)
        try await manual.waitFor(.log)
        manual.advance(by: .seconds(1))
        await end
        #expect(log.lines.withLock(\.isEmpty))
        log.read()
    }

    @Test("the line about dropped lines is a line of the log's format")
    func notice() throws {
        let handler = LineLogHandler(format: .json, clock: manual.clock, logLevel: .info) { _ in }
        let line = Data(handler.line(aboutDropped: 7))
        let value = try JSONDocument(line).value
        #expect(value["dropped"] == .integer(7))
        #expect(value["level"]?.stringValue == "warning")
        #expect(line.last == UInt8(ascii: "\n"))
    }
}
