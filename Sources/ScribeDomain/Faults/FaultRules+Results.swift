import Basics
package import Foundation

/// Faults of recognitions and notes.
extension FaultRules {
    /// Most remembered decisions; the oldest one is dropped first.
    private static let maxDecisions = 10_000

    /// Faults of one transaction's results.
    package struct PipelineDecision: Hashable, Sendable {
        package var recognition: PipelineFault?
        package var note: PipelineFault?
        /// Time after commit until which the results are held back.
        package var delay: Duration = .zero
        /// Rules that apply.
        package var rules: [String] = []
        /// Whether an operator forced this decision. Forced results are not delayed.
        package var isForced = false
        /// Cause of the problems that the decision makes.
        package var cause: Diagnostic.Cause { isForced ? .operatorCall : .faultRule }

        package init() {}
    }

    /// Decides which faults a transaction's results get. Keeps the decision until ``forget(_:)``, unless no rule about
    /// results can still apply.
    package func decision(
        for key: Transaction.Key, at now: Date
    ) -> PipelineDecision {
        state.withLock { state in
            if let known = state.decisions[key] { return known }
            var decision = PipelineDecision()
            guard state.needs.pipeline else { return decision }
            for place in [FaultPlace.recognition, .note] {
                var facts = FaultFacts(at: place)
                (facts.operation, facts.business) = (place.rawValue, key.business.rawValue)
                facts.transactions = [key.id.rawValue]
                guard let applied = Self.applied(to: facts, at: now, in: &state) else { continue }
                decision.rules.append(applied.rule.id)
                decision.delay += applied.delay
                switch applied.rule.effect {
                case .recognition(let fault): decision.recognition = fault
                case .note(let fault): decision.note = fault
                case .request, .socket, .webhook: break
                }
            }
            Self.keep(decision, for: key, in: &state)
            return decision
        }
    }

    /// Decides about a transaction's results, in place of all rules.
    package func force(_ decision: PipelineDecision, for key: Transaction.Key) {
        var decision = decision
        decision.isForced = true
        state.withLock { [decision] in Self.keep(decision, for: key, in: &$0) }
    }

    private static func keep(_ decision: PipelineDecision, for key: Transaction.Key, in state: inout State) {
        guard state.decisions.updateValue(decision, forKey: key) == nil else { return }
        state.order.append(key)
        if state.order.count > maxDecisions { state.decisions[state.order.removeFirst()] = nil }
    }

    /// Forgets a transaction's decision, so that the next commit gets a new one.
    package func forget(_ key: Transaction.Key) {
        state.withLock { state in
            guard state.decisions.removeValue(forKey: key) != nil else { return }
            state.order.removeAll { $0 == key }
        }
    }
}
