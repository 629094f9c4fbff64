import Foundation
import Logging
import ScribeDomain

/// How a log line looks.
enum LogFormat: Sendable {
    /// For people at a terminal.
    case text
    /// One JSON object a line, for everything that reads logs.
    case json
}

/// Writes log lines to standard error.
struct LineLogHandler: LogHandler {
    let format: LogFormat
    let clock: ScribeClock
    var logLevel: Logger.Level
    var metadata: Logger.Metadata = [:]
    var metadataProvider: Logger.MetadataProvider?

    init(format: LogFormat, clock: ScribeClock, level: Logger.Level) {
        self.format = format
        self.clock = clock
        self.logLevel = level
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        var fields = event.metadata ?? [:]
        if let provided = metadataProvider?.get() { fields.merge(provided) { own, _ in own } }
        if !metadata.isEmpty { fields.merge(metadata) { own, _ in own } }
        // The name that the whole product uses for it, also in the response header.
        if let id = fields.removeValue(forKey: "hb.request.id") { fields["request_id"] = id }
        let line =
            switch format {
            case .text: text(event, fields)
            case .json: json(event, fields)
            }
        StandardError.write(line)
    }

    private func text(_ event: LogEvent, _ fields: Logger.Metadata) -> String {
        let time = clock.now.formatted(.iso8601.time(includingFractionalSeconds: false))
        let shown = fields.filter { !["method", "route", "status"].contains($0.key) }
            .sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
        return
            ([time, event.level.rawValue.padding(toLength: 7, withPad: " ", startingAt: 0), "\(event.message)"] + shown)
            .joined(separator: " ")
    }

    private func json(_ event: LogEvent, _ fields: Logger.Metadata) -> String {
        // By hand: a coder would cost more than the request that the line is about.
        let time = clock.now.formatted(.iso8601.year().month().day().time(includingFractionalSeconds: true)) + "Z"
        var members = [("level", event.level.rawValue), ("message", "\(event.message)"), ("time", time)]
        for (key, value) in fields where !["level", "message", "time"].contains(key) {
            if case .string(let text) = value { members.append((key, text)) } else { members.append((key, "\(value)")) }
        }
        var line = "{"
        line.reserveCapacity(512)
        for (key, value) in members.sorted(by: { $0.0 < $1.0 }) {
            if line.utf8.count > 1 { line += "," }
            quote(key, to: &line)
            line += ":"
            quote(value, to: &line)
        }
        return line + "}"
    }

    private func quote(_ text: String, to line: inout String) {
        line += "\""
        defer { line += "\"" }
        guard text.needsJSONEscape else { return line += text }
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": line += "\\\""
            case "\\": line += "\\\\"
            case "\n": line += "\\n"
            case _ where scalar.value < 0x20:
                let hex = String(scalar.value, radix: 16)
                line += "\\u" + String(repeating: "0", count: 4 - hex.count) + hex
            default: line.unicodeScalars.append(scalar)
            }
        }
    }
}
