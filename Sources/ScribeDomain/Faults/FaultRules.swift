import Basics
package import Foundation

/// Fault rules of a world, in order of evaluation. In memory only.
package final class FaultRules: Sendable {
    /// A rule with its counts.
    package struct Entry: Hashable, Sendable {
        package var rule: FaultRule
        package var isOn = true
        /// Requests that the conditions held for.
        package var matched = 0
        package var applied = 0

        /// Whether the rule can still be applied.
        var isOpen: Bool { isOn && rule.times.map { applied < $0 } ?? true }
    }

    /// A rule that applies now.
    package struct Applied: Hashable, Sendable {
        package let rule: FaultRule
        /// Delay drawn from the rule's range; zero if the rule has none.
        package let delay: Duration
        /// Change of the rules that added this one: a name can be given again.
        package var added = 0
        /// Seconds until a rate limit lets the client ask again.
        package var wait: Int?

        package init(rule: FaultRule, delay: Duration, added: Int = 0, wait: Int? = nil) {
            self.rule = rule
            self.delay = delay
            self.added = added
            self.wait = wait
        }
    }

    /// Facts that the rules need, so that requests look up nothing else.
    package struct Needs: Hashable, Sendable {
        package var isEmpty = true
        package var operation = false
        package var identity = false
        /// Whether a rule is about results.
        package var pipeline = false
        /// Number of changes of the rules so far.
        package var version = 0

        /// For facts that later rules may need.
        package static let all = Needs(isEmpty: false, operation: true, identity: true, pipeline: true)
    }

    /// A rule with all that is kept for it.
    struct Kept {
        var entry: Entry
        /// About the memory of the rule, in bytes: the length of its description.
        let size: Int
        /// Change of the rules that added this one.
        let added: Int
        /// Change of the rules that added this one, or made it apply again.
        var version: Int
        var generator: SeededGenerator
        /// By client.
        var buckets: [String: Bucket] = [:]
    }

    struct State {
        var rules: [Kept] = []
        var made = 0
        /// Number of changes.
        var version = 0
        var needs = Needs()
        var decisions: [Transaction.Key: PipelineDecision] = [:]
        var order: [Transaction.Key] = []

        mutating func hasChanged() {
            version += 1
            needs = FaultRules.needs(of: rules)
            needs.version = version
        }
    }

    struct Bucket {
        var tokens: Double
        var time: TimeInterval
    }

    /// Most rules of a world.
    package static let limit = 100
    /// Most clients that one rate limit tracks. The next client resets all buckets of the rule.
    private static let maxSources = 1000

    private let identifiers: WorldIdentifiers
    private let memory: WorldMemory.Share
    let state = LockedValue(State())

    package init(_ identifiers: WorldIdentifiers, _ memory: WorldMemory.Share) {
        self.identifiers = identifiers
        self.memory = memory
    }

    /// Number of changes of the rules so far.
    package var version: Int { state.withLock { $0.version } }

    /// Whether the rule of an application is still there and switched on.
    package func isOn(_ applied: Applied) -> Bool {
        state.withLock { $0.rules.contains { $0.added == applied.added && $0.entry.isOn } }
    }

    /// Facts that the open rules need.
    package var needs: Needs { state.withLock { $0.needs } }

    package var entries: [Entry] { state.withLock { $0.rules.map(\.entry) } }

    /// Adds a rule behind the others.
    /// - Parameter id: nil to have a name made.
    /// - Throws: ``FaultProblem``, ``ScribeError/storageUnavailable(cause:)``.
    package func add(_ rule: FaultRule, named id: String?) throws -> Entry {
        try state.withLock { state in
            guard state.rules.count < Self.limit else { throw FaultProblem.tooMany(limit: Self.limit) }
            var rule = rule
            if let id {
                guard !state.rules.contains(where: { $0.entry.rule.id == id }) else { throw FaultProblem.exists(id) }
                rule.id = id
            } else {
                repeat {
                    state.made += 1
                    rule.id = "fault-\(state.made)"
                } while state.rules.contains(where: { $0.entry.rule.id == rule.id })
            }
            if let other = state.rules.first(where: { $0.entry.isOn && $0.entry.rule.shadows(rule) }) {
                throw FaultProblem.shadowed(by: other.entry.rule.id)
            }
            let kept = Kept(
                entry: Entry(rule: rule), size: "\(rule)".utf8.count, added: state.version + 1,
                version: state.version + 1,
                generator: generator(of: rule.id))
            try memory.resize(to: state.rules.reduce(kept.size) { $0 + $1.size })
            state.rules.append(kept)
            state.hasChanged()
            return kept.entry
        }
    }

    private func generator(of id: String) -> SeededGenerator {
        let text = "fault \(id)"
        if let seed = identifiers.seed { return seed.generator(of: text) }
        return SeededGenerator(random: identifiers.random)
    }

    /// Changes a rule: switches it on or off, or sets how often it applies from now on.
    /// - Throws: ``FaultProblem/unknown(_:nearest:)``.
    package func change(_ id: String, isOn: Bool?, times: Int?) throws(FaultProblem) -> Entry {
        try state.withLock { state throws(FaultProblem) in
            let index = try Self.index(of: id, in: state.rules)
            let wasOpen = state.rules[index].entry.isOpen
            if let isOn { state.rules[index].entry.isOn = isOn }
            if let times { state.rules[index].entry.rule.times = state.rules[index].entry.applied + times }
            if !wasOpen, state.rules[index].entry.isOpen { state.rules[index].version = state.version + 1 }
            state.hasChanged()
            return state.rules[index].entry
        }
    }

    /// - Throws: ``FaultProblem/unknown(_:nearest:)``.
    package func remove(_ id: String) throws(FaultProblem) {
        try state.withLock { state throws(FaultProblem) in
            state.rules.remove(at: try Self.index(of: id, in: state.rules))
            state.hasChanged()
            // A smaller size always fits.
            try? memory.resize(to: state.rules.total(\.size))
        }
    }

    package func removeAll() {
        try? memory.resize(to: 0)
        state.withLock {
            $0.rules = []
            $0.decisions = [:]
            $0.order = []
            $0.hasChanged()
        }
    }

    private static func index(of id: String, in rules: [Kept]) throws(FaultProblem) -> Int {
        if let index = rules.firstIndex(where: { $0.entry.rule.id == id }) { return index }
        throw .unknown(id, nearest: rules.isEmpty ? nil : nearestName(to: id, among: rules.map(\.entry.rule.id)))
    }

    private static func needs(of rules: [Kept]) -> Needs {
        var needs = Needs()
        for entry in rules.map(\.entry) where entry.isOpen {
            needs.isEmpty = false
            needs.operation = needs.operation || entry.rule.match.operation != nil
            needs.pipeline = needs.pipeline || [.recognition, .note].contains(entry.rule.effect.place)
            if case .request(.limit, _) = entry.rule.effect { needs.identity = true }
            needs.identity = needs.identity || entry.rule.match.needsIdentity
        }
        return needs
    }

    /// Returns the first rule that applies, or nil. Increments its `applied`, and `matched` of each usable rule up to
    /// it whose conditions hold.
    /// - Parameters:
    ///   - now: the machine's time.
    ///   - version: Only rules that were added, or apply again, after this change are asked.
    ///   - asksIdentity: Whether rules about clients and businesses are asked too, whatever their change.
    package func applied(
        to facts: FaultFacts, at now: Date, since version: Int = 0, asksIdentity: Bool = false
    ) -> Applied? {
        state.withLock { state in
            Self.applied(to: facts, at: now, in: &state) {
                $0.version > version || asksIdentity && $0.entry.rule.match.needsIdentity
            }
        }
    }

    static func applied(
        to facts: FaultFacts, at now: Date, in state: inout State, where isAsked: (Kept) -> Bool = { _ in true }
    ) -> Applied? {
        guard !state.needs.isEmpty else { return nil }
        for index in state.rules.indices where isAsked(state.rules[index]) {
            let entry = state.rules[index].entry
            let rule = entry.rule
            guard rule.effect.place == facts.place, entry.isOpen, rule.match.holds(for: facts),
                rule.effect.isPossible(with: facts)
            else { continue }
            state.rules[index].entry.matched += 1
            guard chooses(rule, entry.matched + 1, &state.rules[index].generator) else { continue }
            var wait: Int?
            if case .request(.limit(let limit, _), _) = rule.effect {
                guard let seconds = secondsUntilAllowed(limit, facts.source, now, &state.rules[index].buckets) else {
                    continue
                }
                wait = seconds
            }
            state.rules[index].entry.applied += 1
            if !state.rules[index].entry.isOpen {
                state.needs = needs(of: state.rules)
                state.needs.version = state.version
            }
            let delay = rule.delay?.drawn(using: &state.rules[index].generator) ?? .zero
            return Applied(rule: rule, delay: delay, added: state.rules[index].added, wait: wait)
        }
        return nil
    }

    private static func chooses(_ rule: FaultRule, _ count: Int, _ generator: inout SeededGenerator) -> Bool {
        if let nth = rule.match.nth { return count == nth }
        if let every = rule.match.every { return count.isMultiple(of: every) }
        guard let probability = rule.match.probability else { return true }
        return Double.random(in: 0..<1, using: &generator) < probability
    }

    /// Takes a request out of a client's bucket.
    /// - Returns: Seconds until the next request is allowed, if the bucket is empty; otherwise nil.
    private static func secondsUntilAllowed(
        _ limit: FaultLimit, _ source: String, _ now: Date, _ buckets: inout [String: Bucket]
    ) -> Int? {
        if buckets.count >= maxSources, buckets[source] == nil { buckets = [:] }
        let time = now.timeIntervalSince1970
        var bucket = buckets[source] ?? Bucket(tokens: Double(limit.requests), time: time)
        let rate = Double(limit.requests) / limit.seconds
        bucket.tokens = min(Double(limit.requests), bucket.tokens + max(0, time - bucket.time) * rate)
        bucket.time = time
        defer { buckets[source] = bucket }
        // A little less than one: the time that a client was told to wait must be enough.
        guard bucket.tokens >= 0.999 else { return max(1, Int(saturating: ((1 - bucket.tokens) / rate).rounded(.up))) }
        bucket.tokens -= 1
        return nil
    }
}
