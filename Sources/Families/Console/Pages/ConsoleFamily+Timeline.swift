import Foundation
import ScribeDomain
import ScribeRuntime
import ScribeStore

/// Timeline of a recording: what is stored, and the exchanges that the journal still has.
extension ConsoleFamily {
    /// Most lines of the timeline.
    private static let maxLines = 500

    func events(
        of timeline: RecordingTimeline, _ journal: RecordingJournal, _ state: RecordingState,
        _ facts: RecordingState.Facts
    ) -> [ConsoleViews.Model] {
        let base = timeline.transaction.createdAt
        var lines: [(time: Date, line: Line)] = []
        var last = base
        for event in timeline.events {
            let time = event.time ?? last
            last = time
            if !journal.tells(of: event.content), let line = Line(event.content, state, facts) {
                lines.append((time, line))
            }
        }
        for entry in journal.lines(about: timeline.files) { lines.append((entry.time, entry.line)) }
        return lines.enumerated().sorted { ($0.element.time, $0.offset) < ($1.element.time, $1.offset) }
            .suffix(Self.maxLines).map {
                let (time, line) = $0.element
                return [
                    "at": Self.offset(time.timeIntervalSince(base)), "class": line.style, "title": line.title,
                    "detail": line.detail, "hasDetail": !line.detail.isEmpty, "took": line.took,
                    "href": line.number.map { "#x-\($0)" } ?? "", "hasLink": line.number != nil,
                ]
            }
    }

    private static func offset(_ seconds: TimeInterval) -> String {
        let seconds = max(0, seconds)
        return seconds < 120 ? "\((seconds * 10).rounded() / 10) s" : RecordingState.clock(seconds)
    }

    /// A line of the timeline.
    struct Line: Hashable, Sendable {
        var style = ""
        let title: String
        var detail = ""
        var took = ""
        /// Exchange that the line is about.
        var number: Int?

        init(_ title: String, style: String = "", detail: String = "", took: String = "", number: Int? = nil) {
            self.title = title
            self.style = style
            self.detail = detail
            self.took = took
            self.number = number
        }

        /// The line of a stored event; nil for one that the journal tells better.
        init?(
            _ content: RecordingTimeline.Event.Content, _ state: RecordingState, _ facts: RecordingState.Facts
        ) {
            switch content {
            case .created: self.init("Begun")
            case .uploaded(let file):
                self.init(
                    "\(file.name) stored", style: "u", detail: file.contentType ?? "",
                    took: ConsoleFamily.size(file.size))
            case .stopped: self.init("Stopped")
            case .committed: self.init("Committed")
            case .recognised(let file, let found):
                let problem = found.failure.map { ProblemSentences($0, in: facts) }
                self.init(
                    problem == nil ? "\(file) recognised" : "\(file) not recognised",
                    style: (problem?.tone ?? .good).rawValue,
                    detail: problem.map { $0.asker == nil ? $0.what : "\($0.what) \($0.advice)" } ?? "",
                    took: found.duration.map(RecordingState.precise) ?? "")
            case .document(let entry):
                let document = entry.document
                guard document.status.isFinal else { return nil }
                self.init(
                    document.kind == .transcript ? "Transcript" : document.name,
                    style: RecordingState.tone(of: document, in: facts).rawValue,
                    detail: (document.isEdited ? "edited. " : "")
                        + (document.errors + document.warnings).map(\.code.rawValue).joined(separator: ", "))
            case .published: self.init("Published")
            case .processed: self.init(state.word, style: state.tone.rawValue, detail: state.outcome)
            case .cancelled: self.init("Cancelled")
            case .delivery(let delivery):
                self.init(
                    "Webhook \(delivery.event)", style: delivery.state == .failed ? "x" : "h",
                    detail:
                        "\(delivery.state.rawValue), \(delivery.attempts) \(delivery.attempts == 1 ? "attempt" : "attempts")"
                        + (delivery.problem.map { ": \($0)" } ?? ""))
            case .archived: self.init("Deleted by its user")
            }
        }
    }
}
