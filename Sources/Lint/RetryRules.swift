import Basics
import Eka
import Foundation
import HTTPTypes
import Journal
import ScribeDomain
import ScribeHTTP

/// Rules about requests that are sent again.
enum RetryRules {
    static let immediate = LintRule(
        "retry-immediate", .warning, row: "M-67", "A request is repeated without a pause after a failure",
        why: "Retries without a pause keep an overloaded server overloaded.",
        fix: "Wait 1, 2, 4 s before the attempts, with some randomness, and at least as long as Retry-After says.",
        shippedBy: [.ios, .legacyIOS, .android])
    static let create = LintRule(
        "retry-create", .warning, row: "M-21", "A request that creates something is repeated without an id",
        why: "If only the answer was lost, there are two of them now.",
        fix: "Send an id that the client has made: session_id, ambient_session_id or txn_id.")
    static let refused = LintRule(
        "retry-refused", .warning, row: "eka.md 3.2", "A request is repeated unchanged after a final refusal",
        why: "The same request gets the same answer: 4xx says that the request must change.",
        fix: "Repeat after 408, 429 and 5xx only; after 401 with a new token.", shippedBy: [.legacyIOS, .web])

    static let rules = [immediate, create, refused]

    /// Requests that create something under an id of the server's, with the member that would name it.
    private static let creations = [
        "createSession": "session_id", "createAmbientSession": "ambient_session_id", "createUploadForm": "txn_id",
        "createTemplate": "", "subscribe": "", "registerWebhook": "",
    ]
    private static let pause = 0.2
    /// Seconds after which a request is no repetition of another.
    private static let longest = 60.0
    /// Statuses after which the same request may succeed.
    private static let temporary: Set = [408, 425, 429]
    /// Requests whose refusal says to ask again: a device login before its approval.
    private static let waiting: Set = ["finishDeviceLogin"]
    /// Refused polls in a row from which on they are told. The web SDK stops after three.
    private static let mostRefusedPolls = 4

    /// Findings about requests that were sent again, one for each address of each client.
    static func found(in exchanges: [LintedExchange]) -> [Found] {
        let requests = exchanges.filter { $0.kind == .request && !$0.isOpen }
        let groups = Dictionary(grouping: requests, by: \.caller).values.flatMap { all in
            let changes = ExchangeNumbers(all) { $0.isDone && $0.method != .get }
            return Dictionary(grouping: all) { "\($0.method) \($0.shown.path ?? "")" }.values.map { ($0, changes) }
        }
        return groups.sorted { $0.0[0].number < $1.0[0].number }.flatMap { found(in: $0.0, $0.1) }
    }

    /// - Parameter changes: Successful requests of the client that changed something.
    private static func found(in group: [LintedExchange], _ changes: ExchangeNumbers) -> [Found] {
        var (quick, created): ([LintedExchange], [LintedExchange]) = ([], [])
        var longestWait = 0.0
        for (one, next) in zip(group, group.dropFirst()) {
            let gap = next.startedAt.timeIntervalSince(one.endedAt)
            guard gap >= 0, gap < longest else { continue }
            // Two forms for the same bucket, or two people's logins, are no repetition.
            // A client that breaks off may send again at once: a page that is loaded anew.
            if one.isFailed && !PollRules.isFinal(one) || one.status == 429, next.hasBody(of: one) {
                let wait = retryAfter(one) ?? 0
                if gap < max(pause, wait - 1) {
                    quick.append(next)
                    longestWait = max(longestWait, wait)
                }
            }
            if one.isLost, isCreation(next), next.hasBody(of: one) { created.append(next) }
        }
        return [
            (immediate, quick, longestWait > 1 ? "sooner than Retry-After allows" : "within \(pause) s of a failure"),
            (create, created, "after an attempt whose outcome is not known"),
            (refused, refusals(group, changes), "after a refusal"),
        ].compactMap { rule, list, words in
            guard let first = list.first else { return nil }
            let name = first.operation.isEmpty ? first.method.rawValue : first.operation
            return Found(rule, "\(name) \(list.count.counted("time")) again \(words)", list)
        }
    }

    private static func retryAfter(_ exchange: LintedExchange) -> Double? {
        exchange.shown.response?.headerFields[.retryAfter].flatMap(Double.init)
    }

    private static func isCreation(_ exchange: LintedExchange) -> Bool {
        guard exchange.method == .post, let name = creations[exchange.operation] else { return false }
        return name.isEmpty || exchange.json?[name] == nil && exchange.parameter(name) == nil
    }

    private static func refusals(_ group: [LintedExchange], _ changes: ExchangeNumbers) -> [LintedExchange] {
        // A browser asks before each request of a page.
        guard let first = group.first, first.method != .options, !waiting.contains(first.operation) else { return [] }
        let again = zip(group, group.dropFirst()).filter { one, next in
            guard one.isRefused, next.isRefused, one.status == next.status, let status = one.status,
                !temporary.contains(status), next.startedAt.timeIntervalSince(one.endedAt) < longest,
                next.hasBody(of: one), one.shown.query == next.shown.query
            else { return false }
            if status == 401 || status == 403, one.header("authorization") != next.header("authorization") {
                return false
            }
            // What was done meanwhile may be what was missing.
            return !changes.hasOne(between: one, and: next)
        }.map(\.1)
        // HEAD asks whether an object is there yet.
        return [.get, .head].contains(first.method) && again.count < mostRefusedPolls ? [] : again
    }
}
