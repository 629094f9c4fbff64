package import Basics
import HTTPTypes
package import ScribeDomain

/// Reads fault rules, which operators write as one flat object.
package struct FaultRuleReader: Sendable {
    private let operations: OperationIndex
    /// Operations without a path of their own, such as those of S3.
    private let others: [String]
    /// Event names of all APIs.
    private let events: [String]

    package init(operations: OperationIndex, others: [String] = [], events: [String] = []) {
        self.operations = operations
        self.others = others
        self.events = events + [FaultFacts.callback]
    }

    /// Longest body, in bytes.
    static let bodyLimit = 64 << 10

    private static let matching =
        [
            "operation", "method", "path", "business", "client", "transaction", "event", "nth", "every", "probability",
            "times",
        ] + JSONFields.ofRequests
    private static let timing = ["delay", "clock"]
    static let answering = ["status", "code", "message", "body", "content_type", "retry_after"]
    private static let ofRequests = answering + ["when", "connection", "rate", "limit"]
    private static let ofSockets = ["after_sent", "after_received", "close", "reason", "results", "messages"]
    private static let ofPipeline = ["fail", "empty"]
    private static let ofWebhooks = ["twice", "out_of_order", "wrong_signature"]
    package static let names =
        ["id"] + matching + timing + ofRequests + ofSockets + ofPipeline + ofWebhooks

    /// Reads a rule of an operator.
    /// - Throws: ``ScribeError/invalidRequest(field:problem:)``, with the nearest known name where one is unknown.
    package func rule(of members: [String: JSONValue]) throws(ScribeError) -> (rule: FaultRule, id: String?) {
        let fields = JSONFields(members, readsTexts: true)
        try fields.requireKnown(Self.names)
        try fields.requireOnce(except: JSONFields.ofRequests + ["body"])
        let id = try fields.text("id", upTo: 64)
        let match = try match(fields)
        let place = try place(of: match, fields)
        try refuseOthers(than: place, fields)
        var rule = FaultRule(id: id ?? "", effect: try effect(at: place, fields))
        rule.match = match
        try checkSockets(rule, fields)
        rule.times = try fields.integer("times", from: 1)
        try readDelay(fields, into: &rule)
        return (rule, id)
    }

    /// Reads the fault of a request's own header: `status=503; delay=2s`.
    /// - Parameter opensSocket: Whether the request opens a socket.
    /// - Throws: ``ScribeError/invalidRequest(field:problem:)``.
    package func rule(
        ofHeader text: String, named id: String, opensSocket: Bool = false
    ) throws(ScribeError) -> FaultRule {
        var members: [String: JSONValue] = [:]
        for part in text.split(separator: ";") {
            let words = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(\.trimmed)
            guard words.count == 2, !words[0].isEmpty,
                members.updateValue(.string(words[1]), forKey: words[0].replacing("-", with: "_")) == nil
            else {
                throw .invalidRequest(
                    field: "X-Scribe-Fault", problem: "must be pairs such as status=503; delay=2s, each name once")
            }
        }
        let allowed = Self.timing + Self.ofRequests + Self.ofSockets
        let fields = JSONFields(members, readsTexts: true)
        try fields.requireKnown(allowed)
        let isSocket = Self.ofSockets.contains { members[$0] != nil }
        let place: FaultPlace = isSocket ? .socket : .request
        try refuseOthers(than: place, fields)
        var rule = FaultRule(id: id, effect: try effect(at: place, fields))
        guard !fields.has("limit") else { throw fields.problem("limit", "belongs to rules that count requests") }
        if opensSocket { try requireHead(rule, fields) }
        try readDelay(fields, into: &rule)
        return rule
    }

    // MARK: Conditions

    private func match(_ fields: JSONFields) throws(ScribeError) -> FaultMatch {
        var match = FaultMatch()
        match.operation = try fields.text("operation")
        if let operation = match.operation, operations[operation] == nil {
            let known = others + FaultPlace.allCases.dropFirst(2).map(\.rawValue)
            guard known.contains(operation) else {
                throw fields.unknown("operation", operation, among: operations.ids + known)
            }
        }
        match.method = try fields.method()
        if let path = try fields.text("path", upTo: 1024) {
            guard path.hasPrefix("/") || path.hasPrefix("*") else {
                throw fields.problem("path", "must begin with / or *")
            }
            guard !["/__admin", "/__console", "/ns/"].contains(where: path.hasPrefix) else {
                throw fields.problem("path", "is no path of an emulated API; leave a namespace's prefix out")
            }
            guard !path.contains("?") else { throw fields.problem("path", "has no query") }
            match.path = Pattern(path)
        }
        match.business = try fields.text("business")
        match.client = try fields.text("client")
        match.transaction = try fields.text("transaction")
        match.event = try fields.text("event")
        match.fields = try fields.fieldConditions()
        match.hasNoBody = try fields.flag("no_body")
        match.nth = try fields.integer("nth", from: 1)
        match.every = try fields.integer("every", from: 1)
        match.probability = try fields.probability("probability")
        guard [match.nth != nil, match.every != nil, match.probability != nil].count(where: \.self) <= 1 else {
            throw fields.problem("nth", "and 'every' and 'probability' exclude each other")
        }
        if match.nth != nil, fields.has("times") { throw fields.problem("times", "cannot be combined with 'nth'") }
        try checkAgreement(match, fields)
        return match
    }

    /// - Throws: ``ScribeError/invalidRequest(field:problem:)`` where no request can fit all conditions.
    private func checkAgreement(_ match: FaultMatch, _ fields: JSONFields) throws(ScribeError) {
        guard let id = match.operation, let operation = operations[id] else { return }
        if let method = match.method, method != operation.method.rawValue,
            !(method == "HEAD" && operation.method == .get)
        {
            throw fields.problem("method", "never fits: \(id) is \(operation.method.rawValue)")
        }
        guard let path = match.path?.text else { return }
        if path.contains("*") {
            let start = path.prefix { $0 != "*" }
            let literal = operation.literalStart
            guard start.hasPrefix(literal) || literal.hasPrefix(start) else {
                throw fields.problem("path", "never fits: \(id) is \(operation.path)")
            }
        } else if operations.operation(of: operation.method, path) != id {
            throw fields.problem("path", "never fits: \(id) is \(operation.path)")
        }
    }

    /// - Throws: ``ScribeError/invalidRequest(field:problem:)`` for an effect that only sockets have, or none.
    private func checkSockets(_ rule: FaultRule, _ fields: JSONFields) throws(ScribeError) {
        let found = operations.operations(of: rule.match)
        guard let first = found.first else { return }
        if found.allSatisfy(\.isSocket) { try requireHead(rule, fields) }
        guard case .socket = rule.effect, !found.contains(where: \.isSocket) else { return }
        for name in Self.ofSockets where fields.has(name) {
            throw fields.problem(name, "never fits: \(first.id) opens no socket")
        }
    }

    /// - Throws: ``ScribeError/invalidRequest(field:problem:)`` for an effect on a body, which no socket has.
    private func requireHead(_ rule: FaultRule, _ fields: JSONFields) throws(ScribeError) {
        guard case .request(_, .after) = rule.effect else { return }
        throw fields.problem(
            fields.has("when") ? "when" : "connection",
            "has no effect on a socket, whose answer has no body; after_sent and after_received end a socket")
    }

    private func place(of match: FaultMatch, _ fields: JSONFields) throws(ScribeError) -> FaultPlace {
        if let operation = match.operation, let place = FaultPlace(rawValue: operation), operations[operation] == nil {
            for name in ["method", "path", "client"] + JSONFields.ofRequests where fields.has(name) {
                throw fields.problem(name, "never fits: a \(operation) is no request")
            }
            if place != .webhook, fields.has("event") { throw fields.problem("event", "belongs to webhooks only") }
            if let event = match.event, !events.contains(event) { throw fields.unknown("event", event, among: events) }
            return place
        }
        if fields.has("event") { throw fields.problem("event", "belongs to the operation webhook only") }
        return Self.ofSockets.contains(where: fields.has) ? .socket : .request
    }

    /// - Throws: ``ScribeError/invalidRequest(field:problem:)`` for an effect of another place.
    private func refuseOthers(than place: FaultPlace, _ fields: JSONFields) throws(ScribeError) {
        let kinds: [(place: FaultPlace, names: [String], owner: String)] = [
            (.request, Self.ofRequests, "requests"), (.socket, Self.ofSockets, "sockets"),
            (.recognition, Self.ofPipeline, "the operations transcription and note"),
            (.webhook, Self.ofWebhooks, "the operation webhook"),
        ]
        let own = place == .note ? FaultPlace.recognition : place
        for kind in kinds where kind.place != own {
            for name in kind.names where fields.has(name) {
                throw fields.problem(name, "belongs to \(kind.owner) only")
            }
        }
    }

    private func readDelay(_ fields: JSONFields, into rule: inout FaultRule) throws(ScribeError) {
        if let text = try fields.text("delay") {
            guard let delay = FaultDelay(text) else { throw fields.problem("delay", FaultDelay.rule) }
            rule.delay = delay
        }
        if let clock = try fields.text("clock") {
            guard ["machine", "world"].contains(clock) else {
                throw fields.unknown("clock", clock, among: ["machine", "world"])
            }
            guard rule.delay != nil else { throw fields.problem("clock", "needs 'delay'") }
            rule.isByWorldClock = clock == "world"
        }
    }
}
