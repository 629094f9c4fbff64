import Basics
import Foundation
import HTTPTypes
import Journal
import ScribeDomain
import ScribeHTTP
import ScribeRuntime

/// Rules about what comes after the processing: results, feedback and the user's configuration.
enum ResultRules {
    static let unread = LintRule(
        "results-unread", .warning, row: "eka.md 4.3", "Nobody has read the results",
        why: "The recording was processed, and no client has its results.",
        fix: "Poll the status until it is 200 or 206, also after the app was restarted.")
    static let staleConfig = LintRule(
        "config-stale", .warning, row: "C-93",
        "The configuration is changed by a client that has not seen the last change",
        why: "Lists are replaced whole: the other client's favourites are gone.",
        fix: "Read the configuration before each change, and change that.")
    static let feedbackTwice = LintRule(
        "feedback-twice", .warning, row: "U-27", "Feedback on the same content is sent twice",
        why: "The first counts; the second is refused.",
        fix: "Remember that feedback was given, and offer no second time.")
    static let feedbackRange = LintRule(
        "feedback-range", .error, row: "U-27", "A rating is outside of its own scale",
        why: "It is refused, and the user's opinion is lost.",
        fix: "Send whole numbers with min_rating ≤ rating ≤ max_rating.")

    static let rules = [unread, staleConfig, feedbackTwice, feedbackRange]

    private static let reads: Set = PollRules.polls.union([
        "readAmbientContent", "readAmbientTranscript", "readAmbientStructuredData", "readEncounterContent",
        "readEncounterStructuredData", "readDocument", "listDocuments", "readContent", "readChunkTranscript",
        "startRun", "resumeRun", "readBundle",
    ])
    /// Requests after which the results come.
    private static let ends: Set = ["initTransaction", "commitTransaction", "endSession", "endAmbientSession"]
    private static let feedback: Set = ["submitFeedback", "giveAmbientFeedback"]

    static func found(in recording: LintedRecording) -> [Found] {
        let transaction = recording.transaction
        guard transaction.processingStatus == .success, recording.isWhole, recording.timeline.kind != .conversation,
            let end = recording.exchanges.last(where: { Self.ends.contains($0.operation) && $0.isDone }),
            !recording.exchanges.contains(where: { $0.kind == .socket })
        else { return [] }
        // Only an answer with the results counts. All failed is 500 for some SDKs.
        let isRead = recording.exchanges.contains { exchange in
            reads.contains(exchange.operation) && [200, 206, 500].contains(exchange.status ?? 0)
                && !["readAmbientStatus", "readTransaction"].contains(exchange.operation)
                && !PollRules.isPending(exchange)
        }
        return isRead ? [] : [Found(unread, "No answer with results was sent", [end])]
    }

    static func configuration(_ exchanges: [LintedExchange]) -> [Found] {
        let calls = exchanges.of(["readConfig", "changeConfig"]).filter(\.isDone)
        let users = Dictionary(grouping: calls) { call in
            call.shown.exchange.principal.map { "\($0.business.rawValue)\n\($0.user.rawValue)" } ?? ""
        }
        return users.sorted { $0.key < $1.key }.flatMap { _, calls in
            var seen: [String: Int] = [:]
            var last: (number: Int, program: String)?
            var stale: [LintedExchange] = []
            for call in calls {
                if call.operation == "changeConfig" {
                    if let last, last.program != call.program, seen[call.program] ?? 0 < last.number {
                        stale.append(call)
                    }
                    last = (call.number, call.program)
                }
                seen[call.program] = call.number
            }
            return Found.ifAny(staleConfig, "\(stale.count.counted("change")) after another client's", stale)
        }
    }

    static func ratings(_ exchanges: [LintedExchange]) -> [Found] {
        let calls = exchanges.of(feedback).filter { $0.method == .post }
        var found: [Found] = []
        for (_, group) in Dictionary(
            grouping: calls, by: { "\($0.shown.path ?? "")\n\($0.json?["entity"]?.stringValue ?? "")" }
        )
        .sorted(by: { $0.key < $1.key }) {
            guard let first = group.firstIndex(where: \.isDone), first < group.count - 1 else { continue }
            found.append(
                Found(
                    feedbackTwice, "\((group.count - first - 1).counted("further attempt")) after the first",
                    Array(group[(first + 1)...])))
        }
        let outside = calls.filter { call in
            let body = call.json
            let rating = body?["ratingFeedback"] ?? body?["quantitative"] ?? body
            guard let value = rating?["rating"]?.numberValue,
                let low = (rating?["min_rating"] ?? rating?["minRating"])?.numberValue,
                let high = (rating?["max_rating"] ?? rating?["maxRating"])?.numberValue
            else { return false }
            return low >= high || value < low || value > high
        }
        return found
            + Found.ifAny(feedbackRange, "\(outside.count.counted("rating")) outside of the scale", outside)
    }
}
