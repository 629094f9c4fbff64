import Basics
import Logging

/// Lines that a logger was given, each with its level, its message and its fields.
package final class LogLines: Sendable {
    package struct Line: Sendable, CustomStringConvertible {
        package let level: Logger.Level
        package let message: String
        package let fields: [String: String]

        package var description: String { "\(level): \(message) \(fields)" }
    }

    private let lines = LockedValue<[Line]>([])

    package init() {}

    package var all: [Line] { lines.withLock { $0 } }

    /// Lines whose message has a text.
    package func lines(with text: String) -> [Line] { all.filter { $0.message.contains(text) } }

    /// Logger that keeps its lines here.
    package var logger: Logger { Logger(label: "test") { [lines] _ in Handler(lines: lines) } }

    private struct Handler: LogHandler {
        let lines: LockedValue<[Line]>
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.info

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let fields = metadata.merging(event.metadata ?? [:]) { _, last in last }
            let line = Line(level: event.level, message: "\(event.message)", fields: fields.mapValues { "\($0)" })
            lines.withLock { $0.append(line) }
        }
    }
}
