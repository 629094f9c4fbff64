package import Basics
package import ScribeDomain

extension FaultRule {
    /// The rule's conditions and effect, as an operator writes them.
    package var members: [JSON.Member] {
        var members = match.members
        if let times { members.append(("times", .integer(times))) }
        if let delay { members.append(("delay", .string(delay.text))) }
        if isByWorldClock { members.append(("clock", "world")) }
        return members + effect.members
    }
}

extension FaultMatch {
    fileprivate var members: [JSON.Member] {
        var members: [JSON.Member] = []
        func add(_ name: String, _ text: String?) { if let text { members.append((name, .string(text))) } }
        func add(_ name: String, _ number: Int?) { if let number { members.append((name, .integer(number))) } }
        add("operation", operation)
        add("method", method)
        add("path", path?.text)
        add("business", business)
        add("client", client)
        add("transaction", transaction)
        for (name, conditions) in Dictionary(grouping: fields, by: \.member).sorted(by: { $0.key < $1.key }) {
            let texts = conditions.map { JSON.string($0.text) }
            members.append((name, texts.count == 1 ? texts[0] : .array(texts) { $0 }))
        }
        if hasNoBody { members.append(("no_body", .bool(true))) }
        add("event", event)
        add("nth", nth)
        add("every", every)
        if let probability { members.append(("probability", .number(probability))) }
        return members
    }
}

extension FaultDelay {
    fileprivate var text: String {
        func text(_ duration: Duration) -> String { ClockDuration.text(duration / .seconds(1)) }
        return switch self {
        case .fixed(let duration): text(duration)
        case .uniform(let low, let high): "\(text(low))..\(text(high))"
        case .logNormal(let median, let high): "\(text(median))~\(text(high))"
        }
    }
}

extension FaultEffect {
    fileprivate var members: [JSON.Member] {
        switch self {
        case .request(let fault, let moment): [("when", .string(moment.rawValue))] + fault.members
        case .socket(let fault): fault.members
        case .recognition(let fault), .note(let fault): fault.members
        case .webhook(.delay): []
        case .webhook(let fault): [(fault.rawValue, .bool(true))]
        }
    }
}

extension RequestFault {
    fileprivate var members: [JSON.Member] {
        switch self {
        case .delay: []
        case .answer(let answer): answer.members
        case .connection(.reset): [("connection", "reset")]
        case .connection(.hang): [("connection", "hang")]
        case .connection(.half): [("connection", "half")]
        case .connection(.dribble(let rate)): [("connection", "dribble"), ("rate", .integer(rate))]
        case .limit(let limit, let answer):
            [("limit", .string("\(limit.requests)/\(ClockDuration.text(limit.seconds))"))] + answer.members
        }
    }
}

extension FaultAnswer {
    fileprivate var members: [JSON.Member] {
        var members: [JSON.Member] = []
        if let status { members.append(("status", .integer(status))) }
        if let code { members.append(("code", .string(code))) }
        if let message { members.append(("message", .string(message))) }
        if let body { members += [("body", .string(body.text)), ("content_type", .string(body.type))] }
        if let retryAfter { members.append(("retry_after", .integer(retryAfter))) }
        return members
    }
}

extension SocketFault {
    fileprivate var members: [JSON.Member] {
        var members: [JSON.Member] = []
        if let afterSent { members.append(("after_sent", .integer(afterSent))) }
        if let afterReceived { members.append(("after_received", .integer(afterReceived))) }
        if let close { members.append(("close", .integer(close))) }
        if let reason { members.append(("reason", .string(reason))) }
        if let results { members.append(("results", .string(results.rawValue))) }
        if let messages { members.append(("messages", .string(messages.text))) }
        return members
    }
}

extension PipelineFault {
    fileprivate var members: [JSON.Member] {
        switch self {
        case .delay: []
        case .failure(let code): [("fail", .string(code.rawValue))]
        case .empty: [("empty", .bool(true))]
        case .result: []
        }
    }
}
