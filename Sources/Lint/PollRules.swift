import Basics
import Foundation
import HTTPTypes
import Journal
import ScribeHTTP

/// Rules about questions for the state of a recording.
enum PollRules {
    static let fast = LintRule(
        "poll-fast", .warning, row: "eka.md 4.3", "The client asks again without a pause",
        why: "The cloud holds a poll for up to 14 s. Polls without a pause cost battery, and quotas.",
        fix: "Wait a second or two after each answer.")
    static let endless = LintRule(
        "poll-endless", .warning, row: "eka.md 4.3", "The client asks for more than five minutes",
        why: "No shipped SDK asks longer. A result that has not come by then needs another commit, or a person.",
        fix: "Give up after two minutes, tell the user, and offer to try again.")
    static let afterResult = LintRule(
        "poll-after-result", .warning, row: "eka.md 4.3", "The client polls again after the final answer",
        why: "The answer does not change any more until somebody edits or converts the results.",
        fix: "Stop at 200, 206 or a final failure.")

    static let rules = [fast, endless, afterResult]

    static let polls: Set = [
        "readStatus", "readVersion1Status", "readTransaction", "readSession", "readSessionStatus", "readAmbientStatus",
    ]
    /// Seconds between an answer and the next poll that count as none. The quickest SDK waits a second.
    private static let pause = 0.45
    private static let longest = 330.0
    /// Seconds after which a person looks at the results again, and no client polls.
    private static let longestPause = 60.0
    /// Polls of that kind in a row, from which on they are told.
    private static let fewest = 3

    static func found(in recording: LintedRecording) -> [Found] {
        let polls = recording.exchanges.filter { $0.method == .get && Self.polls.contains($0.operation) }
        // A phone and a page may ask for the same recording, each with its own pauses.
        let questions = Dictionary(grouping: polls) { "\($0.operation)?\($0.shown.query ?? "")\n\($0.program)" }
        return questions.sorted { $0.key < $1.key }.flatMap { found(in: $0.value, of: recording) }
    }

    /// Whether the answer says that the results are still to come.
    static func isPending(_ poll: LintedExchange) -> Bool {
        let status = { poll.answer?["status"]?.stringValue ?? "" }
        return switch poll.operation {
        case "readAmbientStatus": ["created", "ready", "running"].contains(status())
        case "readVersion1Status": ["queued", "inprogress"].contains(status())
        case "readStatus" where poll.parameter("dlp") == "true": status() == "in-progress"
        default: poll.status == 202
        }
    }

    /// Whether the answer is the last one. A recording that failed is 500 for some SDKs.
    static func isFinal(_ poll: LintedExchange) -> Bool {
        polls.contains(poll.operation) && poll.operation != "readTransaction" && !isPending(poll)
            && (poll.isDone || poll.status == 500 && poll.shown.exchange.fault == nil)
    }

    private static func found(in polls: [LintedExchange], of recording: LintedRecording) -> [Found] {
        var found: [Found] = []
        let pairs = Array(zip(polls, polls.dropFirst()))
        func gap(_ pair: (LintedExchange, LintedExchange)) -> Double {
            pair.1.startedAt.timeIntervalSince(pair.0.endedAt)
        }
        let quick = pairs.filter { isPending($0.0) && !$0.0.isOpen && gap($0) < pause }
        if quick.count >= fewest {
            found.append(
                Found(fast, "\(quick.count) polls within half a second after an answer that said wait", quick.map(\.1)))
        }
        // A client may ask again later, after a conversion.
        for run in runs(polls) {
            guard let first = run.first, let last = run.last else { continue }
            let passed = last.startedAt.timeIntervalSince(first.startedAt)
            guard passed > longest else { continue }
            found.append(Found(endless, "\(run.count) polls over \(Int(saturating: passed / 60)) minutes", run))
        }
        let changes = ExchangeNumbers(recording.exchanges) { $0.method != .get && $0.isDone }
        let needless = pairs.filter { one, next in
            isFinal(one) && isFinal(next) && gap((one, next)) < longestPause && !changes.hasOne(between: one, and: next)
        }
        if needless.count >= fewest {
            found.append(
                Found(afterResult, "\(needless.count.counted("poll")) after the final answer", needless.map(\.1)))
        }
        return found
    }

    /// Polls that were told to wait, each soon after the one before.
    private static func runs(_ polls: [LintedExchange]) -> [[LintedExchange]] {
        var runs: [[LintedExchange]] = [[]]
        for poll in polls {
            if let last = runs[runs.count - 1].last, poll.startedAt.timeIntervalSince(last.endedAt) > longestPause {
                runs.append([])
            }
            if isPending(poll) { runs[runs.count - 1].append(poll) } else { runs.append([]) }
        }
        return runs
    }
}
