import Basics
import Connections
import ScribeDomain

/// Effects of rules.
extension FaultRuleReader {
    func effect(at place: FaultPlace, _ fields: JSONFields) throws(ScribeError) -> FaultEffect {
        switch place {
        case .request: try requestEffect(fields)
        case .socket: .socket(try socketFault(fields))
        case .recognition: .recognition(try pipelineFault(fields))
        case .note: .note(try pipelineFault(fields))
        case .webhook: .webhook(try webhookFault(fields))
        }
    }

    private func requestEffect(_ fields: JSONFields) throws(ScribeError) -> FaultEffect {
        let moment = try fields.choice("when", among: FaultEffect.Moment.self)
        let answer = try answer(fields)
        if let text = try fields.text("limit") {
            guard let limit = FaultLimit(text) else { throw fields.problem("limit", FaultLimit.rule) }
            guard moment != .after else { throw fields.problem("when", "must be before with 'limit'") }
            for name in ["connection", "delay"] where fields.has(name) {
                throw fields.problem(name, "excludes 'limit'")
            }
            return .request(.limit(limit, answer ?? FaultAnswer()), .before)
        }
        if let name = try fields.text("connection") {
            guard answer == nil else { throw fields.problem("connection", "excludes an answer of the rule's own") }
            let fault = try connection(name, fields)
            switch fault {
            case .half, .dribble:
                guard moment != .before else {
                    throw fields.problem("when", "must be after: before, there is no body to send")
                }
                return .request(.connection(fault), .after)
            case .reset, .hang: return .request(.connection(fault), moment ?? .before)
            }
        }
        if fields.has("rate") { throw fields.problem("rate", "belongs to the connection dribble only") }
        if let answer { return .request(.answer(answer), moment ?? .before) }
        guard fields.has("delay") else {
            throw .invalidRequest(
                field: nil,
                problem: "names no effect: add status, code, body, delay, connection, limit, or one of a socket's")
        }
        return .request(.delay, moment ?? .before)
    }

    private func connection(_ name: String, _ fields: JSONFields) throws(ScribeError) -> FaultConnection {
        let rate = try fields.integer("rate", from: 1)
        if rate != nil, name != "dribble" { throw fields.problem("rate", "belongs to the connection dribble only") }
        switch name {
        case "reset": return .reset
        case "hang":
            if fields.has("delay") {
                throw fields.problem("delay", "cannot be combined with hang, which sends no answer")
            }
            return .hang
        case "half": return .half
        case "dribble": return .dribble(bytesPerSecond: rate ?? 100)
        default: throw fields.unknown("connection", name, among: ["reset", "hang", "half", "dribble"])
        }
    }

    private func answer(_ fields: JSONFields) throws(ScribeError) -> FaultAnswer? {
        guard FaultRuleReader.answering.contains(where: fields.has) else { return nil }
        var answer = FaultAnswer()
        answer.status = try fields.integer("status", from: 200, to: 599)
        answer.code = try fields.text("code", upTo: 100)
        answer.message = try fields.text("message", upTo: 1000)
        answer.retryAfter = try fields.integer("retry_after", from: 0, to: 86_400)
        if let body = fields["body"] {
            let (text, type) =
                body.stringValue.map { ($0, "text/plain; charset=utf-8") } ?? (
                    String(decoding: JSON.value(body).bytes, as: UTF8.self), "application/json"
                )
            guard text.utf8.count <= FaultRuleReader.bodyLimit else {
                throw fields.problem("body", "must have at most \(FaultRuleReader.bodyLimit) bytes")
            }
            answer.body = .init(text: text, type: try fields.text("content_type", upTo: 100) ?? type)
            for name in ["code", "message"] where fields.has(name) { throw fields.problem(name, "excludes 'body'") }
            if let status = answer.status, [204, 205, 304].contains(status) {
                throw fields.problem("status", "has no body")
            }
        } else if fields.has("content_type") {
            throw fields.problem("content_type", "belongs to a 'body'")
        }
        if answer.body == nil, !fields.has("limit") {
            guard answer.status != nil || answer.code != nil else {
                throw fields.problem("status", "or 'code' is missing")
            }
            if let status = answer.status, status < 400 {
                throw fields.problem("status", "must be 400 to 599 without a 'body'")
            }
        }
        return answer
    }

    private func socketFault(_ fields: JSONFields) throws(ScribeError) -> SocketFault {
        var fault = SocketFault()
        fault.afterSent = try fields.integer("after_sent", from: 0)
        fault.afterReceived = try fields.integer("after_received", from: 0)
        fault.close = try fields.integer("close", from: 1000, to: 4999)
        fault.reason = try fields.text("reason", upTo: 123)
        if let code = fault.close, !WebSocketClosure.isSendable(UInt16(code)) {
            throw fields.problem("close", "must be a code that a server may send: 1000 to 1014 or 3000 to 4999")
        }
        if fault.close != nil || fault.reason != nil {
            guard fault.afterSent != nil || fault.afterReceived != nil else {
                throw fields.problem("close", "needs 'after_sent' or 'after_received'; 0 closes at once")
            }
            if fault.close == nil { throw fields.problem("reason", "needs 'close'") }
        }
        fault.results = try fields.choice("results", among: SocketFault.Results.self)
        if fault.results == .late, !fields.has("delay") { throw fields.problem("results", "late needs 'delay'") }
        fault.messages = try fields.text("messages").map { Pattern($0) }
        if fault.messages != nil, fault.results == nil || fault.results == .late {
            throw fields.problem("messages", "needs the results doubled or missing")
        }
        return fault
    }

    private func pipelineFault(_ fields: JSONFields) throws(ScribeError) -> PipelineFault {
        let code = try fields.choice("fail", among: Diagnostic.Code.self)
        let isEmpty = try fields.flag("empty")
        guard code == nil || !isEmpty else { throw fields.problem("empty", "excludes 'fail'") }
        if let code { return .failure(code) }
        if isEmpty { return .empty }
        guard fields.has("delay") else {
            throw .invalidRequest(field: nil, problem: "names no effect: add fail, empty or delay")
        }
        return .delay
    }

    private func webhookFault(_ fields: JSONFields) throws(ScribeError) -> WebhookFault {
        var faults: [WebhookFault] = []
        for fault in WebhookFault.allCases where fault != .delay {
            if try fields.flag(fault.rawValue) { faults.append(fault) }
        }
        guard faults.count <= 1 else {
            throw fields.problem(faults[1].rawValue, "excludes '\(faults[0].rawValue)'")
        }
        if let fault = faults.first {
            guard try fields.text("event") != FaultFacts.callback || fault == .twice else {
                throw fields.problem(fault.rawValue, "never fits: a callback is not signed, and one of its own")
            }
            return fault
        }
        guard fields.has("delay") else {
            throw .invalidRequest(
                field: nil, problem: "names no effect: add twice, out_of_order, wrong_signature or delay")
        }
        return .delay
    }
}

extension FaultLimit {
    static let rule = "must be a number of requests and a time, such as 5/1m"

    /// Reads `5/1m`: five requests a minute.
    init?(_ text: String) {
        let parts = text.split(separator: "/", maxSplits: 1)
        guard parts.count == 2, let requests = Int(parts[0]), (1...1_000_000).contains(requests),
            let time = ClockDuration(String(parts[1]))?.duration, time >= .milliseconds(1)
        else { return nil }
        self.init(requests: requests, seconds: time / .seconds(1))
    }
}
