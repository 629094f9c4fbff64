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
        var fields = metadata
        if let provided = metadataProvider?.get() { fields.merge(provided) { _, new in new } }
        if let own = event.metadata { fields.merge(own) { _, new in new } }
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
        var object = fields.mapValues { "\($0)" }
        object["time"] = clock.now.formatted(.iso8601.year().month().day().time(includingFractionalSeconds: true)) + "Z"
        object["level"] = event.level.rawValue
        object["message"] = "\(event.message)"
        // By hand: a coder would cost more than the request that the line is about.
        return "{"
            + object.sorted { $0.key < $1.key }.map { "\(quoted($0.key)):\(quoted($0.value))" }.joined(separator: ",")
            + "}"
    }

    private func quoted(_ text: String) -> String {
        if !text.needsJSONEscape { return "\"\(text)\"" }
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": quoted += "\\\""
            case "\\": quoted += "\\\\"
            case "\n": quoted += "\\n"
            case _ where scalar.value < 0x20:
                let hex = String(scalar.value, radix: 16)
                quoted += "\\u" + String(repeating: "0", count: 4 - hex.count) + hex
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }
}
