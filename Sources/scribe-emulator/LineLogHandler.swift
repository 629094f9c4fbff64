import Foundation
import Logging
import ScribeDomain

/// Format of log lines.
enum LogFormat: String, CaseIterable, Sendable {
    /// For reading on a terminal: time, level, message, then `key=value` pairs.
    case text
    /// One JSON object per line, for log collectors.
    case json
}

/// Writes log lines to standard error.
struct LineLogHandler: LogHandler {
    let format: LogFormat
    let clock: WallClock
    var logLevel: Logger.Level
    var metadata: Logger.Metadata = [:]
    var metadataProvider: Logger.MetadataProvider?

    init(format: LogFormat, clock: WallClock, level: Logger.Level) {
        self.format = format
        self.clock = clock
        self.logLevel = level
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) { StandardError.write(line(of: event)) }

    /// The log line in UTF-8, without a line feed.
    func line(of event: LogEvent) -> [UInt8] {
        var fields = event.metadata ?? [:]
        if let provided = metadataProvider?.get() { fields.merge(provided) { own, _ in own } }
        if !metadata.isEmpty { fields.merge(metadata) { own, _ in own } }
        // `x-request-id` in responses has the same name.
        if let id = fields.removeValue(forKey: "hb.request.id") { fields["request_id"] = id }
        return switch format {
        case .text: Array(text(event, fields).utf8)
        case .json: json(event, fields)
        }
    }

    private func text(_ event: LogEvent, _ fields: Logger.Metadata) -> String {
        let time = clock.now.formatted(.iso8601.time(includingFractionalSeconds: false))
        let shown = fields.filter { !["method", "route", "status"].contains($0.key) }
            .sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
        return
            ([time, event.level.rawValue.padding(toLength: 7, withPad: " ", startingAt: 0), "\(event.message)"] + shown)
            .joined(separator: " ")
    }

    private func json(_ event: LogEvent, _ fields: Logger.Metadata) -> [UInt8] {
        // `JSONEncoder` would take longer than the request itself.
        var members: [JSON.Member] = [
            ("level", .string(event.level.rawValue)), ("message", .string(event.message.description)),
            ("time", .string(clock.now.iso8601Milliseconds)),
        ]
        for (key, value) in fields where !["level", "message", "time"].contains(key) {
            members.append((key, Self.json(value)))
        }
        return JSON.object(members.sorted { $0.name < $1.name }).bytes
    }

    /// A metadata value as JSON. Numbers stay numbers, so that log collectors can compare and add them.
    private static func json(_ value: Logger.Metadata.Value) -> JSON {
        guard case .stringConvertible(let value) = value else { return .string(value.description) }
        return switch value {
        case let number as Int: .integer(number)
        case let number as Double: .number(number)
        default: .string(value.description)
        }
    }
}
