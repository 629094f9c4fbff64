import Foundation
import ScribeDomain
import TestSupport
import Testing

@Suite("Fault rules")
struct FaultRulesTests {
    private static let now = Date(timeIntervalSince1970: 1_000_000)

    private func rules(seed: String? = nil) -> FaultRules {
        FaultRules(
            WorldIdentifiers(.counting(), seed: seed.flatMap { SeedValue($0) }), WorldMemory(limit: .max).share())
    }

    private func rule(_ change: (inout FaultRule) -> Void = { _ in }) -> FaultRule {
        var rule = FaultRule(id: "", effect: .request(.answer(FaultAnswer()), .before))
        change(&rule)
        return rule
    }

    private func facts(_ path: String = "/a", client: String? = nil) -> FaultFacts {
        var facts = FaultFacts(at: .request)
        (facts.method, facts.path, facts.client, facts.source) = ("GET", path, client, client ?? "")
        facts.values = { $0 == .header && $1 == "user-agent" ? ["Alamofire/5", "CFNetwork"] : [] }
        return facts
    }

    private func applied(_ rules: FaultRules, _ count: Int, _ facts: FaultFacts? = nil) -> [Bool] {
        (0..<count).map { _ in rules.applied(to: facts ?? self.facts(), at: Self.now) != nil }
    }

    @Test("a fault rule applies to the nth request, to every nth, or at most a number of times")
    func counting() throws {
        let nth = rules()
        _ = try nth.add(rule { $0.match.nth = 2 }, named: nil)
        #expect(applied(nth, 4) == [false, true, false, false])
        let every = rules()
        _ = try every.add(
            rule {
                $0.match.every = 2
                $0.times = 2
            }, named: nil)
        #expect(applied(every, 8) == [false, true, false, true, false, false, false, false])
        #expect(every.needs.isEmpty)
    }

    @Test("a fault rule with a probability fails the same requests for the same seed value")
    func probability() throws {
        let runs = try ["a", "a", "b"].map { seed in
            let rules = rules(seed: seed)
            _ = try rules.add(rule { $0.match.probability = 0.5 }, named: nil)
            return applied(rules, 200)
        }
        #expect(runs[0] == runs[1])
        #expect(runs[0] != runs[2])
        #expect((60...140).contains(runs[0].count { $0 }))
    }

    @Test("a fault rule applies if all its conditions hold, and of several rules the first applies")
    func conditions() throws {
        let rules = rules()
        _ = try rules.add(rule { $0.match.client = "c" }, named: "client")
        _ = try rules.add(rule { $0.match.path = Pattern("/b/*/c") }, named: "path")
        _ = try rules.add(
            rule { $0.match.fields = [FieldCondition(.header, "user-agent", Pattern("*Alamofire*"))] }, named: "h")
        #expect(rules.applied(to: facts("/b/x/c", client: "c"), at: Self.now)?.rule.id == "client")
        #expect(rules.applied(to: facts("/b/x/c"), at: Self.now)?.rule.id == "path")
        #expect(rules.applied(to: facts("/d"), at: Self.now)?.rule.id == "h")
        #expect(rules.needs.identity && !rules.needs.operation)
        #expect(rules.entries.map(\.matched) == [1, 1, 1])
    }

    @Test("a fault rule that could never apply is refused, and so is a name in use")
    func refused() throws {
        let rules = rules()
        _ = try rules.add(rule(), named: "a")
        #expect(throws: FaultProblem.exists("a")) { try rules.add(rule { $0.match.path = Pattern("/x") }, named: "a") }
        #expect(throws: FaultProblem.shadowed(by: "a")) { try rules.add(rule { $0.times = 3 }, named: nil) }
        #expect(throws: FaultProblem.unknown("b", nearest: "a")) { try rules.remove("b") }
        _ = try rules.change("a", isOn: false, times: nil)
        _ = try rules.add(rule(), named: "b")
        #expect(rules.entries.count == 2)
        rules.removeAll()
        #expect(rules.needs.isEmpty)
    }

    @Test("a namespace has at most a hundred fault rules")
    func most() throws {
        let rules = rules()
        for number in 0..<FaultRules.limit {
            _ = try rules.add(rule { $0.match.path = Pattern("/\(number)") }, named: nil)
        }
        #expect(throws: FaultProblem.tooMany(limit: 100)) { try rules.add(rule(), named: nil) }
        #expect(rules.entries.count == 100)
    }

    @Test("a rate limit of a fault rule refills evenly, for each client alone")
    func limit() throws {
        let rules = rules()
        let limit = FaultLimit(requests: 2, seconds: 60)
        _ = try rules.add(rule { $0.effect = .request(.limit(limit, FaultAnswer()), .before) }, named: nil)
        func wait(_ client: String, after seconds: Double) -> Int? {
            rules.applied(to: facts(client: client), at: Self.now.addingTimeInterval(seconds))?.wait
        }
        #expect(
            [wait("a", after: 0), wait("a", after: 0), wait("a", after: 0), wait("b", after: 0)] == [nil, nil, 30, nil])
        #expect([wait("a", after: 30), wait("a", after: 30)] == [nil, 30])
        #expect(wait("a", after: -1000) == 30, "a clock that was set back fills nothing")
    }

    @Test("a fault rule decides a transaction's results once, and again after the transaction is finished")
    func pipeline() throws {
        let rules = rules()
        var rule = FaultRule(id: "", effect: .recognition(.failure(.noSpeech)))
        rule.match.operation = "transcription"
        rule.times = 1
        _ = try rules.add(rule, named: nil)
        let key = Transaction.Key(business: BusinessID("b"), id: TransactionID("t"))
        for _ in 0..<3 { #expect(rules.decision(for: key, at: Self.now).recognition == .failure(.noSpeech)) }
        rules.forget(key)
        #expect(rules.decision(for: key, at: Self.now).recognition == nil)
        #expect(rules.entries.map(\.applied) == [1])
    }

    @Test("forced results are forgotten as others are, beyond ten thousand transactions")
    func forced() {
        let rules = rules()
        var decision = FaultRules.PipelineDecision()
        decision.note = .empty
        let keys = (0...10_000).map { Transaction.Key(business: BusinessID("b"), id: TransactionID("\($0)")) }
        for key in keys { rules.force(decision, for: key) }
        #expect(!rules.decision(for: keys[0], at: Self.now).isForced)
        #expect(rules.decision(for: keys[1], at: Self.now).isForced)
    }

    @Test(
        "an asterisk in a fault rule's pattern matches any characters",
        arguments: [
            ("", "", true), ("a", "a", true), ("a", "ab", false), ("*", "", true), ("a*", "abc", true),
            ("*c", "abc", true),
            ("a*c", "ac", true), ("a*a", "a", false), ("a*b*c", "aXbYc", true), ("*b*b*", "abc", false),
            ("**", "x", true), ("a*bc", "abcbc", true), ("ä*", "äö", true),
        ])
    func pattern(text: String, other: String, fits: Bool) {
        #expect(Pattern(text).matches(other) == fits)
    }

    @Test("fault rules take memory that all namespaces share, and give it back")
    func memory() throws {
        let memory = WorldMemory(limit: 5000)
        let rules = FaultRules(WorldIdentifiers(.counting()), memory.share())
        func long(_ path: String) -> FaultRule {
            var answer = FaultAnswer()
            answer.body = .init(text: String(repeating: "x", count: 3000), type: "text/plain")
            var rule = FaultRule(id: "", effect: .request(.answer(answer), .before))
            rule.match.path = Pattern(path)
            return rule
        }
        let id = try rules.add(long("/a"), named: nil).rule.id
        #expect(throws: ScribeError.self) { try rules.add(long("/b"), named: nil) }
        #expect(rules.entries.count == 1)
        try rules.remove(id)
        #expect(memory.total == 0)
        _ = try rules.add(long("/b"), named: nil)
        rules.removeAll()
        #expect(memory.total == 0)
    }

    @Test("the longest delay of a distribution is 24 hours", arguments: ["1ms~24h", "1ms..24h", "23h~24h", "24h"])
    func longestDelay(text: String) throws {
        /// Begins with a value at an edge. `random(in:using:)` draws again after some values.
        struct Edge: RandomNumberGenerator {
            var value: UInt64
            mutating func next() -> UInt64 {
                defer { value = value &* 6_364_136_223_846_793_005 &+ 1 }
                return value
            }
        }
        let delay = try #require(FaultDelay(text))
        for value in [0, 1, UInt64.max / 4, .max / 2, .max - 1, .max] {
            var generator = Edge(value: value)
            let drawn = delay.drawn(using: &generator)
            #expect(.zero <= drawn && drawn <= .seconds(86_401))
        }
    }

    @Test("a fault rule's delay is fixed, uniform or log-normal")
    func delays() throws {
        var generator = try #require(SeedValue("a") as SeedValue?).generator(of: "delays")
        #expect(FaultDelay("2s")?.drawn(using: &generator) == .seconds(2))
        let even = try #require(FaultDelay("1s..3s"))
        let log = try #require(FaultDelay("200ms~2s"))
        let drawn = (0..<2000).map { _ in (even.drawn(using: &generator), log.drawn(using: &generator)) }
        #expect(drawn.allSatisfy { .seconds(1) <= $0.0 && $0.0 <= .seconds(3) && $0.1 > .zero })
        #expect((900...1100).contains(drawn.count { $0.1 < .milliseconds(200) }))
        #expect((60...140).contains(drawn.count { $0.1 > .seconds(2) }))
        for text in ["", "2", "-1s", "3s..1s", "2s~1s", "0s~1s", "25h", "1s..", "..", "~", "1s..2s..3s"] {
            #expect(FaultDelay(text) == nil, "\(text)")
        }
    }
}
