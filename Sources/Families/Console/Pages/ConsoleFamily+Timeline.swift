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
    ) -> (lines: [ConsoleViews.Model], scale: TimelineScale) {
        let transaction = timeline.transaction
        let base = transaction.createdAt
        // At the same time a call comes before what it brought about.
        var lines = journal.lines(about: timeline.files, facts.fixture)
        var last = base
        for event in timeline.events {
            let time = event.time ?? last
            last = time
            guard !journal.tells(of: event.content), var line = Line(event.content, state, facts) else { continue }
            // Processing is what a client waits for.
            if case .processed = event.content, let begin = transaction.committedAt, begin < time { line.begin = begin }
            lines.append((time, line))
        }
        // Stored times are whole milliseconds.
        func moment(_ time: Date) -> Double { (time.timeIntervalSince1970 * 1000).rounded() }
        let sorted = lines.enumerated().sorted {
            (moment($0.element.time), $0.offset) < (moment($1.element.time), $1.offset)
        }
        let shown = Self.folded(sorted.map(\.element)).suffix(Self.maxLines)
        func seconds(_ time: Date) -> TimeInterval { max(0, time.timeIntervalSince(base)) }
        let spans = shown.map { time, line in
            let (begin, end) = (seconds(line.begin ?? time), seconds(line.end ?? time))
            return begin...max(begin, end)
        }
        let scale = TimelineScale(
            spans, marks: [transaction.committedAt, transaction.processedAt].compactMap(\.self).map(seconds))
        let models = zip(shown, spans).map { element, span -> ConsoleViews.Model in
            let (time, line) = element
            return [
                "at": "+" + RecordingState.exact(seconds(time)), "class": line.style, "title": line.title,
                "detail": line.detail, "hasDetail": !line.detail.isEmpty, "took": line.took,
                "href": line.number.map { "#x-\($0)" } ?? "", "hasLink": line.number != nil,
                "bar": scale.bar(of: span, style: line.style),
            ]
        }
        return (models, scale)
    }

    /// The lines, with one for all files that were recognised in a row.
    private static func folded(_ lines: [(time: Date, line: Line)]) -> [(time: Date, line: Line)] {
        var folded: [(time: Date, line: Line)] = []
        var files = 0
        for (time, line) in lines {
            files = line.isRecognition ? files + 1 : 0
            guard files > 1, let first = folded.last else {
                folded.append((time, line))
                continue
            }
            var all = Line("\(files) files recognised", style: line.style, until: time)
            all.isRecognition = true
            folded[folded.count - 1] = (first.time, all)
        }
        return folded
    }

    /// A line of the timeline.
    struct Line: Hashable, Sendable {
        var style = ""
        let title: String
        var detail = ""
        var took = ""
        /// True for one file that was recognised, and for several.
        var isRecognition = false
        /// Begin of the bar, if it is not the line's time.
        var begin: Date?
        /// End of the bar; nil for a moment.
        var end: Date?
        /// Exchange that the line is about.
        var number: Int?

        init(
            _ title: String, style: String = "", detail: String = "", took: String = "", until end: Date? = nil,
            number: Int? = nil
        ) {
            self.title = title
            self.end = end
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
            case .committed:
                self.init(state.outcome.hasSuffix("by an operator") ? "Ended by an operator" : "Committed")
            case .recognised(let file, let found):
                let problem = found.failure.map { ProblemSentences($0, in: facts) }
                self.init(
                    problem == nil ? "\(file) recognised" : "\(file) not recognised",
                    style: (problem?.tone ?? .good).rawValue,
                    detail: problem.map { $0.asker == nil ? $0.what : "\($0.what) \($0.advice)" } ?? "",
                    took: found.duration.map(RecordingState.precise) ?? "")
                isRecognition = problem == nil
            case .document(let entry):
                let document = entry.document
                guard document.status.isFinal else { return nil }
                self.init(
                    document.kind == .transcript
                        ? "Transcript"
                        : document.format == .transcript
                            ? "\(document.name), \(document.templateID.rawValue)" : document.name,
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
                        "to \(delivery.endpoint): \(delivery.state.word.lowercased()), \(delivery.attempts) \(delivery.attempts == 1 ? "attempt" : "attempts")"
                        + (delivery.problem.map { ": \($0)" } ?? ""), until: delivery.settledAt)
            case .archived: self.init("Deleted by its user")
            }
        }
    }
}
