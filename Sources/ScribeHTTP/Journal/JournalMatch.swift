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
        /// The value that the exchange has instead; nil if the condition holds.
        let difference: @Sendable (ShownExchange) -> String?
    }

    let conditions: [Condition]

    func holds(for exchange: ShownExchange) -> Bool { conditions.allSatisfy { $0.difference(exchange) == nil } }

    /// The exchanges of a journal that match. Costs time for each entry: not on an event loop.
    /// - Throws: `CancellationError` once the caller's task is cancelled.
    package func exchanges(of journal: Journal, _ index: JournalIndex) throws -> [ShownExchange] {
        try journal.entries.compactMap { entry in
            try Task.checkCancellation()
            let exchange = index.shown(entry)
            return holds(for: exchange) ? exchange : nil
        }
    }

    /// The conditions in one line.
    package var text: String { conditions.map { "\($0.name)=\($0.expected)" }.joined(separator: " ") }
}

/// Reads the conditions of a call.
package struct JournalMatchReader: Sendable {
    private let operations: OperationIndex
    private let others: [String]
    private let families: [String]

    /// - Parameters:
    ///   - others: Operations without a path of their own, such as those of S3.
    ///   - families: Names of the emulated APIs.
    package init(operations: OperationIndex, others: [String], families: [String]) {
        self.operations = operations
        self.others = others
        self.families = families
    }

    private static let methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]

    package static let names = [
        "kind", "operation", "method", "path", "status", "family", "client", "business", "transaction", "event",
        "fault",
        "header", "query", "body", "response", "frame", "after", "since",
    ]
    private static let bodyLimit = 64 << 10

    /// - Parameter more: Further members that the call has.
    /// - Throws: ``ScribeError/invalidRequest(field:problem:)``, with the nearest known name where one is unknown.
    package func match(_ members: [String: JSONValue], more: [String] = []) throws(ScribeError) -> JournalMatch {
        let fields = JSONFields(members, readsTexts: true)
        try fields.requireKnown(Self.names + more)
        var conditions: [JournalMatch.Condition] = []
        func add(_ name: String, _ expected: String, _ found: @escaping @Sendable (ShownExchange) -> String?) {
            conditions.append(
                .init(name: name, expected: expected) { found($0) == expected ? nil : found($0) ?? "none" })
        }
        if let kind = try fields.choice("kind", among: Exchange.Kind.self) {
            add("kind", kind.rawValue) { $0.exchange.kind.rawValue }
        }
        if let operation = try fields.text("operation") {
            guard operations[operation] != nil || others.contains(operation) else {
                throw fields.unknown("operation", operation, among: operations.ids + others)
            }
            add("operation", operation) { $0.operation }
        }
        if let method = try fields.text("method") {
            guard Self.methods.contains(method.uppercased()) else {
                throw fields.unknown("method", method.uppercased(), among: Self.methods)
            }
            add("method", method.uppercased()) { $0.request.method.rawValue }
        }
        if let path = try fields.text("path", upTo: 1024) {
            let pattern = Pattern(path)
            conditions.append(
                .init(name: "path", expected: path) { shown in
                    shown.path.map { pattern.matches($0) ? nil : $0 } ?? "none"
                })
        }
        if let status = try status(fields) { conditions.append(status) }
        if let family = try fields.text("family") {
            guard families.contains(family) else { throw fields.unknown("family", family, among: families) }
            add("family", family) { $0.exchange.family }
        }
        if let client = try fields.text("client") { add("client", client) { $0.exchange.principal?.client.rawValue } }
        if let business = try fields.text("business") {
            add("business", business) { $0.exchange.principal?.business.rawValue }
        }
        if let id = try fields.text("transaction") {
            conditions.append(
                .init(name: "transaction", expected: id) { $0.transactions.contains(id) ? nil : "another" })
        }
        if let event = try fields.choice("event", among: SessionEvent.self)?.rawValue {
            add("event", event) { $0.exchange.delivery?.event }
        }
        if let fault = try fields.text("fault") { add("fault", fault) { $0.exchange.fault } }
        if let header = try pair("header", ":", fields) {
            let (name, pattern) = (header.name.lowercased(), header.pattern)
            conditions.append(
                .init(name: "header", expected: "\(header.name): \(pattern.text)") { shown in
                    shown.header(name).map { pattern.matches($0) ? nil : "\(header.name): \($0)" } ?? "none"
                })
        }
        if let parameter = try pair("query", "=", fields) {
            let (name, pattern) = parameter
            conditions.append(
                .init(name: "query", expected: "\(name)=\(pattern.text)") { shown in
                    let values = shown.parameters(name)
                    if values.contains(where: pattern.matches) { return nil }
                    return values.first.map { "\(name)=\($0)" } ?? "none"
                })
        }
        if let number = try fields.integer("after", from: 0) {
            conditions.append(
                .init(name: "after", expected: String(number)) { $0.number > number ? nil : String($0.number) })
        }
        if let since = try fields.text("since") {
            guard let time = Date(iso8601: since) else {
                throw fields.problem("since", "must be a time, such as 2030-01-01T00:00:00Z")
            }
            conditions.append(
                .init(name: "since", expected: since) { shown in
                    shown.exchange.startedAt >= time ? nil : ShownExchange.time(shown.exchange.startedAt)
                })
        }
        // Last, since they read whole texts.
        if let body = try body("body", fields) { conditions.append(body.condition("body") { $0.requestBody }) }
        if let body = try body("response", fields) {
            conditions.append(body.condition("response") { $0.exchange.responseBody })
        }
        if let frame = try body("frame", fields) { conditions.append(frame.conditionOfFrames) }
        return JournalMatch(conditions: conditions)
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
            return holds ? nil : found ?? "none"
        }
    }

    /// A name and a pattern of its value; any value if there is none.
    private func pair(
        _ field: String, _ separator: Character, _ fields: JSONFields
    ) throws(ScribeError) -> (name: String, pattern: Pattern)? {
        guard let text = try fields.text(field, upTo: 1024) else { return nil }
        let parts = text.split(separator: separator, maxSplits: 1, omittingEmptySubsequences: false)
        guard let name = parts.first?.trimmed, !name.isEmpty else {
            throw fields.problem(field, "must be NAME or NAME\(separator)PATTERN")
        }
        return (name, Pattern(parts.count > 1 ? parts[1].trimmed : "*"))
    }

    private func body(_ field: String, _ fields: JSONFields) throws(ScribeError) -> BodyMatch? {
        guard let value = fields[field] else { return nil }
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

/// Condition on a body: a pattern of the whole text, or JSON that the body must contain.
enum BodyMatch: Sendable {
    case text(Pattern)
    case json(JSONValue)

    private var text: String {
        switch self {
        case .text(let pattern): pattern.text
        case .json(let value): value.shown
        }
    }

    func condition(
        _ name: String, _ body: @escaping @Sendable (ShownExchange) -> RecordedBody?
    ) -> JournalMatch.Condition {
        .init(name: name, expected: text) { shown in
            guard let body = body(shown) else { return "none" }
            return difference(in: body)
        }
    }

    /// A condition that one frame of a socket must fulfil.
    var conditionOfFrames: JournalMatch.Condition {
        .init(name: "frame", expected: text) { shown in
            let holds = shown.exchange.frames.contains { frame in
                guard case .text(let body) = frame.content else { return false }
                return difference(in: body) == nil
            }
            return holds ? nil : "none of \(shown.exchange.frames.count) frames"
        }
    }

    private func difference(in body: RecordedBody) -> String? {
        guard let text = body.shownText else { return "\(body.size) bytes that are no text" }
        switch self {
        case .text(let pattern): return pattern.matches(text) ? nil : String(text.prefix(200))
        case .json(let expected):
            guard let found = JSONDocument.untrusted(Data(text.utf8), as: JSONValue.self) else {
                return body.isTruncated ? "more than \(JournalSettings.bodyLimit) bytes" : "no JSON"
            }
            return expected.difference(from: found, at: "")
        }
    }
}

extension JSONValue {
    /// The place where another value lacks something of this one; nil if it has all of it. A text may be a pattern.
    fileprivate func difference(from found: JSONValue, at path: String) -> String? {
        let place = path.isEmpty ? "" : "\(path): "
        switch (self, found) {
        case (.object(let members), .object(let others)):
            for (name, value) in members.sorted(by: { $0.key < $1.key }) {
                let inner = path.isEmpty ? name : "\(path).\(name)"
                guard let other = others[name] else { return "no \(inner)" }
                if let difference = value.difference(from: other, at: inner) { return difference }
            }
            return nil
        case (.array(let values), .array(let others)):
            guard values.count == others.count else { return "\(place)\(others.count) items" }
            for (index, (value, other)) in zip(values, others).enumerated() {
                if let difference = value.difference(from: other, at: "\(path).\(index)") { return difference }
            }
            return nil
        case (.string(let text), .string(let other)):
            return Pattern(text).matches(other) ? nil : "\(place)\(found.shown)"
        default:
            let isEqual = self == found || numberValue != nil && numberValue == found.numberValue
            return isEqual ? nil : "\(place)\(found.shown)"
        }
    }

    /// The value as short JSON.
    fileprivate var shown: String {
        String(String(decoding: JSON.value(self).bytes, as: UTF8.self).prefix(200))
    }
}
