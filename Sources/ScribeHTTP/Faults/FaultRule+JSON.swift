package import Basics
package import ScribeDomain

extension FaultRule {
    /// The rule's conditions and effect, as an operator writes them.
    package var json: JSON {
        match.json.adding([
            "times": times.map(JSON.integer), "delay": delay.map { .string($0.text) },
            "clock": isByWorldClock ? "world" : nil,
        ]).adding(effect.json)
    }
}

extension FaultMatch {
    fileprivate var json: JSON {
        let conditions: [JSON.Member] = Dictionary(grouping: fields, by: \.member).sorted { $0.key < $1.key }
            .map { name, all in
                (name, all.count == 1 ? JSON.string(all[0].text) : JSON.array(all) { .string($0.text) })
            }
        let start: JSON = [
            "operation": operation.map(JSON.string), "method": method.map(JSON.string),
            "path": path.map { .string($0.text) }, "business": business.map(JSON.string),
            "client": client.map(JSON.string), "transaction": transaction.map(JSON.string),
        ]
        return start.adding(.object(conditions)).adding([
            "no_body": hasNoBody ? true : nil, "event": event.map(JSON.string), "nth": nth.map(JSON.integer),
            "every": every.map(JSON.integer), "probability": probability.map(JSON.number),
        ])
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
    fileprivate var json: JSON {
        switch self {
        case .request(let fault, let moment): (["when": .string(moment.rawValue)] as JSON).adding(fault.json)
        case .socket(let fault): fault.json
        case .recognition(let fault), .note(let fault): fault.json
        case .webhook(.delay): [:]
        case .webhook(let fault): [fault.rawValue: true]
        }
    }
}

extension RequestFault {
    fileprivate var json: JSON {
        switch self {
        case .delay: [:]
        case .answer(let answer): answer.json
        case .connection(.reset): ["connection": "reset"]
        case .connection(.hang): ["connection": "hang"]
        case .connection(.half): ["connection": "half"]
        case .connection(.dribble(let rate)): ["connection": "dribble", "rate": .integer(rate)]
        case .limit(let limit, let answer):
            (["limit": .string("\(limit.requests)/\(ClockDuration.text(limit.seconds))")] as JSON).adding(answer.json)
        }
    }
}

extension FaultAnswer {
    fileprivate var json: JSON {
        [
            "status": status.map(JSON.integer), "code": code.map(JSON.string), "message": message.map(JSON.string),
            "body": body.map { .string($0.text) }, "content_type": body.map { .string($0.type) },
            "retry_after": retryAfter.map(JSON.integer),
        ]
    }
}

extension SocketFault {
    fileprivate var json: JSON {
        [
            "after_sent": afterSent.map(JSON.integer), "after_received": afterReceived.map(JSON.integer),
            "close": close.map(JSON.integer), "reason": reason.map(JSON.string),
            "results": results.map { .string($0.rawValue) }, "messages": messages.map { .string($0.text) },
        ]
    }
}

extension PipelineFault {
    fileprivate var json: JSON {
        switch self {
        case .delay, .result: [:]
        case .failure(let code): ["fail": .string(code.rawValue)]
        case .empty: ["empty": true]
        }
    }
}
