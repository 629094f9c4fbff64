import Basics
import Foundation
import ScribeHTTP
import ScribeRuntime
import ScribeStore

/// The exchanges of one recording that the journal still has.
struct RecordingJournal: Sendable {
    /// An exchange, from its summary.
    struct Entry: Sendable {
        let number: Int
        let method: String
        let path: String
        let operation: String
        let status: Int?
        let milliseconds: Double?
        let fault: String?
        let kind: String
        let reason: String
        let client: String
        /// Begin, by the world's clock.
        let time: Date
        let clock: String

        init?(_ value: JSONValue, offset: TimeInterval) {
            guard let number = value["id"]?.integerValue, let started = value["started_at"]?.stringValue,
                let time = Date(iso8601: started)
            else { return nil }
            self.number = number
            method = value["method"]?.stringValue ?? ""
            kind = value["kind"]?.stringValue ?? "request"
            // A delivery goes to another server.
            let receiver = kind == "delivery" ? value["host"]?.stringValue ?? "" : ""
            path = receiver + (value["path"]?.stringValue ?? "") + (value["query"]?.stringValue.map { "?\($0)" } ?? "")
            operation = value["operation"]?.stringValue ?? value["event"]?.stringValue ?? ""
            status = value["status"]?.integerValue
            milliseconds = value["ms"]?.numberValue
            fault = value["fault"]?.stringValue
            reason = value["reason"]?.stringValue ?? ""
            client = value["client"]?.stringValue ?? ""
            self.time = time.addingTimeInterval(offset)
            clock = String(started.dropFirst(11).prefix(12))
        }

        var took: String { milliseconds.map { RecordingState.precise($0 / 1000) } ?? "open" }

        /// Whether the request asked for the state, and was perhaps held.
        var isPoll: Bool { method == "GET" && kind == "request" }
        var isUpload: Bool {
            ["PUT", "POST"].contains(method) && (operation == "PutObject" || operation.hasPrefix("upload"))
        }
        /// Signature of an upload, and its client.
        var signer: String {
            let way = method == "POST" ? "" : path.contains("X-Amz-Signature") ? "presigned" : "signed"
            return [way, client.isEmpty ? "" : "by \(client)"].filter { !$0.isEmpty }.joined(separator: " ")
        }
        var isDone: Bool { status.map { $0 < 300 } ?? false }
        /// Name of the file that an upload is about.
        var file: String {
            let name = path.prefix { $0 != "?" }.split(separator: "/").last ?? ""
            return PercentEncoding.decode(name) ?? String(name)
        }

        func model(root: String, _ query: String) -> ConsoleViews.Model {
            [
                "number": number, "clock": clock, "method": method.isEmpty ? kind : method,
                "path": path.isEmpty ? operation : path, "operation": operation,
                "status": status.map(String.init) ?? (milliseconds == nil ? "…" : "–"),
                "statusClass": status.map { "x\($0 / 100)" } ?? "t3",
                "took": took, "fault": fault ?? "", "hasFault": fault != nil, "isSocket": kind == "socket",
                "isDelivery": kind == "delivery", "href": "\(root)/requests/\(number)\(query)", "reason": reason,
            ]
        }
    }

    let entries: [Entry]
    private let dropped: Int
    private let isOff: Bool

    /// - Parameters:
    ///   - answer: answer of the operator API; nil if there is no journal.
    ///   - offset: seconds of the world's clock before the machine's.
    init(_ answer: JSONValue?, offset: TimeInterval) {
        isOff = answer == nil
        entries = (answer?["requests"]?.arrayValue ?? []).compactMap { Entry($0, offset: offset) }
        dropped = answer?["dropped"]?.integerValue ?? 0
    }

    var refusedUploads: [Entry] { entries.filter { $0.isUpload && ($0.status ?? 0) >= 400 } }

    /// Whether an exchange says the same as a stored event, and more.
    func tells(of content: RecordingTimeline.Event.Content) -> Bool {
        switch content {
        case .uploaded(let file): entries.contains { $0.isUpload && $0.isDone && $0.file == file.name }
        case .created: entries.first.map { $0.method == "POST" && $0.isDone } ?? false
        case .stopped: entries.contains { $0.operation.hasPrefix("stop") && $0.isDone }
        case .committed: entries.contains { $0.operation.hasPrefix("commit") && $0.isDone }
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
    func lines(about files: [RecordingFile]) -> [(time: Date, line: ConsoleFamily.Line)] {
        var lines: [(time: Date, line: ConsoleFamily.Line)] = []
        var polls: [Entry] = []
        func close() {
            guard let first = polls.first else { return }
            let held = polls.compactMap(\.milliseconds).max() ?? 0
            let statuses = Set(polls.compactMap(\.status)).sorted().map(String.init).joined(separator: ", ")
            lines.append(
                (
                    first.time,
                    .init(
                        polls.count == 1 ? "Poll \(statuses)" : "\(polls.count) polls, \(statuses)", style: "pl",
                        detail: first.operation, took: "held up to \(RecordingState.precise(held / 1000))",
                        number: first.number)
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
            guard entry.kind != "delivery" else { continue }
            let isBad = (entry.status ?? 0) >= 400
            let name = entry.isUpload ? entry.file : entry.operation.isEmpty ? entry.method : entry.operation
            lines.append(
                (
                    entry.time,
                    .init(
                        "\(name) \(entry.status.map(String.init) ?? "")",
                        style: isBad ? (entry.fault == nil ? "x" : "a") : entry.isUpload ? "u" : "",
                        detail: entry.fault.map { "by the fault \($0)" }
                            ?? (isBad ? entry.reason : detail(of: entry, files)), took: entry.took, number: entry.number
                    )
                ))
        }
        close()
        return lines
    }

    /// Size, type and signer of an upload; nothing for another exchange.
    private func detail(of entry: Entry, _ files: [RecordingFile]) -> String {
        guard entry.isUpload else { return "" }
        let file = files.first { $0.name == entry.file }
        let parts = [file.map { ConsoleFamily.size($0.size) }, file?.contentType, entry.signer].compactMap(\.self)
        return parts.filter { !$0.isEmpty }.joined(separator: ", ")
    }
}
