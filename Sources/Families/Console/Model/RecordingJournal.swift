import Foundation
import Journal
import ScribeDomain
import ScribeHTTP
import ScribeRuntime
import ScribeStore

/// The exchanges of one recording that the journal still has.
struct RecordingJournal: Sendable {
    /// Error of times that are stored, in seconds.
    private static let rounding = 0.002

    let entries: [JournalEntry]
    private let dropped: Int
    private let isOff: Bool

    /// - Parameters:
    ///   - journal: nil if there is none. Its search costs time for each entry: not on an event loop.
    ///   - most: Maximum number of exchanges, the last ones.
    ///   - offset: Seconds of the world's clock before the machine's.
    init(of id: TransactionID, in journal: Journal?, most: Int, offset: TimeInterval) {
        isOff = journal.map { !$0.settings.mode.isFull } ?? true
        dropped = journal?.counts.dropped ?? 0
        let found =
            isOff
            ? nil
            : journal.map {
                JournalIndex.documented.exchanges(about: id.rawValue, in: $0, most: most)
            }
        entries = (found ?? []).map { JournalEntry($0, offset: offset) }
    }

    /// The journal with times of the world's clock as it was, with which uploads and steps are stored. The journal
    /// itself has the machine's times, and the clock may have been moved since.
    func aligned(with timeline: RecordingTimeline) -> RecordingJournal {
        var known: [(at: Date, shift: TimeInterval)] = []
        for event in timeline.events {
            guard let time = event.time,
                let entry = entries.first(where: { Self.tells($0, of: event.content, entries) })
            else { continue }
            // The time that is stored lies within the call.
            let (begin, end) = (entry.time, entry.end ?? entry.time)
            let isWithin = (begin.addingTimeInterval(-Self.rounding)...end.addingTimeInterval(Self.rounding))
                .contains(time)
            known.append((entry.startedAt, isWithin ? 0 : time.timeIntervalSince(end)))
        }
        known.sort { $0.at < $1.at }
        return RecordingJournal(
            entries: entries.map { entry in
                let near = known.last { $0.at <= entry.startedAt } ?? known.first
                var moved = entry
                moved.time.addTimeInterval(near?.shift ?? 0)
                return moved
            }, dropped: dropped, isOff: isOff)
    }

    private init(entries: [JournalEntry], dropped: Int, isOff: Bool) {
        self.entries = entries
        self.dropped = dropped
        self.isOff = isOff
    }

    var refusedUploads: [JournalEntry] { entries.filter { $0.isUpload && $0.isError } }

    /// Whether an exchange says the same as a stored event, and more.
    func tells(of content: RecordingTimeline.Event.Content) -> Bool {
        entries.contains { Self.tells($0, of: content, entries) }
    }

    private static func tells(
        _ entry: JournalEntry, of content: RecordingTimeline.Event.Content, _ entries: [JournalEntry]
    ) -> Bool {
        guard entry.isDone else { return false }
        return switch content {
        case .uploaded(let file): entry.isUpload && entry.file == file.name
        case .created: entry.method == "POST" && entry.number == entries.first?.number
        case .stopped: entry.operation.hasPrefix("stop")
        case .committed: entry.operation.hasPrefix("commit")
        default: false
        }
    }

    /// A sentence about exchanges that are missing; empty if none is.
    func note(since begin: Date) -> String {
        if isOff { return "The journal is off: requests are not recorded." }
        guard dropped > 0, entries.first.map({ $0.time > begin.addingTimeInterval(1) }) ?? true else { return "" }
        return "Earlier requests are no longer recorded."
    }

    /// Exchanges for the timeline. Equal polls in a row are one line.
    /// - Parameter fixture: Fixture that may have refused a step.
    func lines(about files: [RecordingFile], _ fixture: NamedFixture?) -> [(time: Date, line: ConsoleFamily.Line)] {
        var lines: [(time: Date, line: ConsoleFamily.Line)] = []
        var polls: [JournalEntry] = []
        func close() {
            guard let first = polls.first else { return }
            let held = polls.compactMap(\.milliseconds).max() ?? 0
            let statuses = Set(polls.compactMap(\.status)).sorted().map(String.init).joined(separator: ", ")
            lines.append(
                (
                    first.time,
                    .init(
                        polls.count == 1 ? "Poll \(statuses)" : "\(polls.count) polls, \(statuses)", style: "pl",
                        detail: first.operation,
                        took: (polls.count == 1 ? "" : "up to ") + RecordingState.precise(held / 1000),
                        until: polls.compactMap(\.end).max(), number: first.number)
                ))
            polls = []
        }
        for entry in entries {
            if entry.isPoll, (entry.status ?? 0) < 400 {
                if let last = polls.last, last.operation != entry.operation { close() }
                polls.append(entry)
                continue
            }
            close()
            guard entry.kind != .delivery else { continue }
            let isBad = (entry.status ?? 0) >= 400
            let name = entry.isUpload ? entry.file : entry.operation.isEmpty ? entry.method : entry.operation
            lines.append(
                (
                    entry.time,
                    .init(
                        "\(name) \(entry.status.map(String.init) ?? "")",
                        style: isBad
                            ? (entry.fault != nil || entry.isRefused(by: fixture) ? "a" : "x")
                            : entry.isUpload ? "u" : "",
                        detail: entry.fault.map { "by the fault \($0)" }
                            ?? (isBad ? entry.reason : detail(of: entry, files)), took: entry.took, until: entry.end,
                        number: entry.number)
                ))
        }
        close()
        return lines
    }

    /// Size, type and signer of an upload; nothing for another exchange.
    private func detail(of entry: JournalEntry, _ files: [RecordingFile]) -> String {
        guard entry.isUpload else { return "" }
        let file = files.first { $0.name == entry.file }
        let parts = [file.map { ConsoleFamily.size($0.size) }, file?.contentType, entry.signer].compactMap(\.self)
        return parts.filter { !$0.isEmpty }.joined(separator: ", ")
    }
}
