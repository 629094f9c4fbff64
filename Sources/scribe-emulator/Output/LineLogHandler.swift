import Basics
import Foundation
import Logging
import ScribeHTTP

/// Format of log lines.
enum LogFormat: String, CaseIterable, Sendable {
    /// For reading on a terminal: time, level, message, then `key=value` pairs.
    case text
    /// One JSON object per line, for log collectors.
    case json
}

/// Writes log lines.
struct LineLogHandler: RequestLineHandler {
    let format: LogFormat
    let clock: WallClock
    var logLevel: Logger.Level
    var metadata: Logger.Metadata = [:]
    var metadataProvider: Logger.MetadataProvider?
    /// Gets each line in UTF-8, with its line feed.
    let write: @Sendable ([UInt8]) -> Void

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    var writeRequest: (@Sendable (RequestLine) -> Void)? {
        guard format == .json, logLevel <= .info, metadata.isEmpty, metadataProvider == nil else { return nil }
        return { [write] in write(Self.json($0)) }
    }

    func log(event: LogEvent) { write(line(of: event) + [UInt8(ascii: "\n")]) }

    /// The line that says how many lines were lost, with its line feed.
    func line(aboutDropped count: Int) -> [UInt8] {
        line(
            of: LogEvent(
                level: .warning, message: "log lines were dropped, because nothing reads the log fast enough",
                metadata: ["dropped": .stringConvertible(count)], source: "", file: "", function: "", line: 0))
            + [UInt8(ascii: "\n")]
    }

    /// The log line in UTF-8, without a line feed.
    func line(of event: LogEvent) -> [UInt8] {
        switch format {
        case .text: Array(text(event).utf8)
        case .json: json(event)
        }
    }

    private typealias Field = (name: String, value: Logger.Metadata.Value)

    /// Fields of a line, in the order of their names: its own, and metadata under other names. The event's metadata
    /// goes before the provider's, and this before the handler's.
    private func fields(of event: LogEvent, with own: [Field] = []) -> [Field] {
        // A few fields are found faster in an array than in a dictionary.
        var fields = own
        fields.reserveCapacity(16)
        for source in [event.metadata, metadataProvider?.get(), metadata] {
            for (key, value) in source ?? [:] {
                if !fields.contains(where: { $0.name == key }) { fields.append((key, value)) }
            }
        }
        fields.sort { $0.name < $1.name }
        return fields
    }

    private func text(_ event: LogEvent) -> String {
        let time = clock.now.formatted(.iso8601.time(includingFractionalSeconds: false))
        let shown = fields(of: event).filter { !["method", "route", "status"].contains($0.name) }
            .map { "\($0.name)=\($0.value)" }
        return
            ([time, event.level.rawValue.padding(toLength: 7, withPad: " ", startingAt: 0), "\(event.message)"] + shown)
            .joined(separator: " ")
    }

    private func json(_ event: LogEvent) -> [UInt8] {
        // `JSONEncoder` would take longer than the request itself.
        let fields = fields(
            of: event,
            with: [
                ("level", .string(event.level.rawValue)), ("message", .string(event.message.description)),
                ("time", .string(clock.now.iso8601Milliseconds)),
            ])
        var text = JSONText()
        text.write("{")
        for (index, field) in fields.enumerated() {
            if index > 0 { text.write(",") }
            text.write(string: field.name)
            text.write(":")
            Self.write(field.value, to: &text)
        }
        text.write("}")
        return text.bytes
    }

    /// Members in the order of their names, as in every line.
    private static func json(_ line: RequestLine) -> [UInt8] {
        var text = JSONText()
        text.write("{\"level\":\"info\"")
        text.member("message")
        text.write(string: "\(line.method) \(line.route) \(line.status)")
        text.member("method")
        text.write(string: line.method)
        text.member("ms")
        text.write(json: .number(line.milliseconds))
        text.member("request_id")
        text.write(string: line.requestID)
        text.member("route")
        text.write(string: line.route)
        text.member("status")
        text.write(integer: Int64(line.status))
        text.member("time")
        text.write(string: line.time.iso8601Milliseconds)
        if let trace = line.traceID {
            text.member("trace_id")
            text.write(string: trace)
        }
        text.write("}\n")
        return text.bytes
    }

    /// Writes a metadata value as JSON. Numbers stay numbers, so that log collectors can compare and add them.
    private static func write(_ value: Logger.Metadata.Value, to text: inout JSONText) {
        switch value {
        case .string(let value): text.write(string: value)
        case .stringConvertible(let number as Int): text.write(integer: Int64(number))
        case .stringConvertible(let number as Double): text.write(json: .number(number))
        default: text.write(string: value.description)
        }
    }
}
