package import Basics
import Foundation
import HTTPTypes
package import Journal
package import ScribeDomain
import ScribeRuntime

/// Conditions on exchanges of the journal. All must hold.
package struct JournalMatch: Sendable {
    /// One condition on an exchange.
    struct Condition: Sendable {
        let name: String
        /// The expected value, as the operator wrote it.
        let expected: String
        let verdict: @Sendable (ShownExchange) -> MatchVerdict
    }

    let conditions: [Condition]
    /// Number behind which the exchanges are.
    var after: Int?
    /// Time from which on the exchanges are.
    var since: Date?

    /// The verdict on all conditions. A later condition is not read if an earlier one fails.
    func verdict(for exchange: ShownExchange) -> MatchVerdict {
        conditions.reduce(.holds) { $0.and($1.verdict(exchange)) }
    }

    func holds(for exchange: ShownExchange) -> Bool { verdict(for: exchange) == .holds }

    /// Number of exchanges that the journal has dropped and that may have matched.
    func gone(from journal: Journal) -> Int {
        let counts = journal.counts
        guard let last = counts.lastDropped else { return 0 }
        if let since, last.startedAt < since { return 0 }
        return min(counts.dropped, max(0, last.number - (after ?? 0)))
    }

    /// The exchanges of a journal that match. Costs time for each entry: not on an event loop.
    /// - Throws: `CancellationError` once the caller's task is cancelled.
    package func exchanges(of journal: Journal, _ index: JournalIndex) throws -> [ShownExchange] {
        try journal.entries.compactMap { entry in
            try Task.checkCancellation()
            let exchange = index.shown(entry)
            return holds(for: exchange) ? exchange : nil
        }
    }

    /// Number of exchanges of a journal that match, and of those of which it has not kept enough. Costs time for each
    /// entry: not on an event loop.
    /// - Throws: `CancellationError` once the caller's task is cancelled.
    package func count(in journal: Journal, _ index: JournalIndex) throws -> (matched: Int, unknown: Int) {
        var (matched, unknown) = (0, 0)
        for entry in journal.entries {
            try Task.checkCancellation()
            switch verdict(for: index.shown(entry)) {
            case .holds: matched += 1
            case .unknown: unknown += 1
            case .fails: continue
            }
        }
        return (matched, unknown)
    }

    /// The conditions in one line.
    package var text: String { conditions.map { "\($0.name)=\($0.expected)" }.joined(separator: " ") }
}

/// Reads the conditions of a call.
package struct JournalMatchReader: Sendable {
    private let operations: OperationIndex
    private let others: [String]
    private let families: [String]
    private let mode: JournalMode

    /// - Parameters:
    ///   - others: Operations without a path of their own, such as those of S3.
    ///   - families: Names of the emulated APIs.
    ///   - mode: Mode of the journal.
    package init(operations: OperationIndex, others: [String], families: [String], mode: JournalMode) {
        self.operations = operations
        self.others = others
        self.families = families
        self.mode = mode
    }

    /// Conditions on what ``JournalMode/metadata`` keeps.
    static let ofMetadata = [
        "kind", "operation", "method", "status", "family", "event", "fault", "after", "since",
    ]
    /// Conditions on what only ``JournalMode/full`` keeps.
    static let ofContent =
        ["path", "client", "business", "transaction"] + JSONFields.ofRequests + ["body", "response", "frame"]
    package static let names = ofMetadata + ofContent
    private static let bodyLimit = 64 << 10

    /// - Parameter more: Further members that the call has.
    /// - Throws: ``ScribeError/invalidRequest(field:problem:)``, with the nearest known name where one is unknown.
    package func match(_ members: [String: JSONValue], more: [String] = []) throws(ScribeError) -> JournalMatch {
        let fields = JSONFields(members, readsTexts: true)
        try fields.requireKnown(Self.names + more)
        try fields.requireOnce(except: JSONFields.ofRequests + ["body", "response", "frame"])
        if !mode.isFull, let name = Self.ofContent.first(where: fields.has) {
            throw fields.problem(name, "cannot be known: the journal keeps no such content; --journal full does")
        }
        var match = JournalMatch(conditions: try facts(fields) + contents(fields))
        match.after = try fields.integer("after", from: 0)
        match.since = try since(fields)
        return match
    }

    private func since(_ fields: JSONFields) throws(ScribeError) -> Date? {
        guard let text = try fields.text("since") else { return nil }
        guard let time = Date(iso8601: text) else {
            throw fields.problem("since", "must be a time, such as 2030-01-01T00:00:00Z")
        }
        return time
    }

    /// Conditions on facts, which each journal keeps.
    private func facts(_ fields: JSONFields) throws(ScribeError) -> [JournalMatch.Condition] {
        var conditions: [JournalMatch.Condition] = []
        func add(_ name: String, _ expected: String?, _ found: @escaping @Sendable (ShownExchange) -> String?) {
            guard let expected else { return }
            conditions.append(
                .init(name: name, expected: expected) { shown in
                    let found = found(shown)
                    return MatchVerdict(found == expected, found: found ?? "none")
                })
        }
        add("kind", try fields.choice("kind", among: Exchange.Kind.self)?.rawValue) { $0.exchange.kind.rawValue }
        if let operation = try fields.text("operation") {
            guard operations[operation] != nil || others.contains(operation) else {
                throw fields.unknown("operation", operation, among: operations.ids + others)
            }
            add("operation", operation) { $0.operation }
        }
        add("method", try fields.method()) { $0.request.method.rawValue }
        if let status = try status(fields) { conditions.append(status) }
        if let family = try fields.text("family") {
            guard families.contains(family) else { throw fields.unknown("family", family, among: families) }
            add("family", family) { $0.exchange.family }
        }
        add("client", try fields.text("client")) { $0.exchange.principal?.client.rawValue }
        add("business", try fields.text("business")) { $0.exchange.principal?.business.rawValue }
        add("event", try fields.choice("event", among: SessionEvent.self)?.rawValue) { $0.exchange.delivery?.event }
        if let text = try fields.text("fault") {
            let pattern = Pattern(text)
            conditions.append(
                .init(name: "fault", expected: text) { shown in
                    let found = shown.exchange.fault
                    return MatchVerdict(found.map { pattern.matches($0) } ?? false, found: found ?? "none")
                })
        }
        if let number = try fields.integer("after", from: 0) {
            conditions.append(
                .init(name: "after", expected: String(number)) {
                    MatchVerdict($0.number > number, found: String($0.number))
                })
        }
        if let time = try since(fields) {
            conditions.append(
                .init(name: "since", expected: ShownExchange.time(time)) { shown in
                    let start = shown.exchange.startedAt
                    return MatchVerdict(start >= time, found: ShownExchange.time(start))
                })
        }
        return conditions
    }

    /// Conditions on heads and bodies, those that read whole texts last.
    private func contents(_ fields: JSONFields) throws(ScribeError) -> [JournalMatch.Condition] {
        var conditions: [JournalMatch.Condition] = []
        if let path = try fields.text("path", upTo: 1024) {
            let pattern = Pattern(path)
            conditions.append(.init(name: "path", expected: path) { $0.verdict(onPath: pattern) })
        }
        if let id = try fields.text("transaction") {
            conditions.append(.init(name: "transaction", expected: id) { $0.verdict(onTransaction: id) })
        }
        for condition in try fields.fieldConditions() {
            conditions.append(.init(name: condition.member, expected: condition.text) { $0.verdict(on: condition) })
        }
        if try fields.flag("no_body") {
            conditions.append(.init(name: "no_body", expected: "true", verdict: \.verdictOnNoBody))
        }
        for body in try bodies("body", fields) {
            conditions.append(.init(name: "body", expected: body.text) { $0.verdict(onBody: body) })
        }
        for body in try bodies("response", fields) {
            conditions.append(
                .init(name: "response", expected: body.text) { shown in
                    shown.exchange.responseBody.map(body.verdict) ?? .fails(found: "none")
                })
        }
        for body in try bodies("frame", fields) {
            conditions.append(.init(name: "frame", expected: body.text) { $0.verdict(onFrame: body) })
        }
        return conditions
    }

    private func status(_ fields: JSONFields) throws(ScribeError) -> JournalMatch.Condition? {
        guard let value = fields["status"] else { return nil }
        let text = value.scalarText ?? ""
        let isClass = text.count == 3 && text.dropFirst() == "xx" && ("1"..."5").contains(text.prefix(1))
        guard isClass || Int(text).map((100...999).contains) ?? false else {
            throw fields.problem("status", "must be a status such as 503, or a class such as 5xx")
        }
        return .init(name: "status", expected: text) { shown in
            let found = shown.status.map(String.init)
            let holds = isClass ? found?.prefix(1) == text.prefix(1) : found == text
            return MatchVerdict(holds, found: found ?? "none")
        }
    }

    private func bodies(_ field: String, _ fields: JSONFields) throws(ScribeError) -> [BodyMatch] {
        try fields.values(field).map { value throws(ScribeError) in
            guard case .string(let text) = value else { return .json(value) }
            guard !text.isEmpty, text.utf8.count <= Self.bodyLimit else {
                throw fields.problem(field, "must be JSON, or a text of 1 to \(Self.bodyLimit) bytes")
            }
            guard text.hasPrefix("{") || text.hasPrefix("[") else { return .text(Pattern(text)) }
            guard let json = JSONDocument.untrusted(Data(text.utf8), as: JSONValue.self) else {
                throw fields.problem(field, "begins like JSON, and is none")
            }
            return .json(json)
        }
    }
}
