import ScribeDomain
import Testing

@testable import Console

/// Words for what became of the deliveries to a webhook's receiver.
struct ReceiverStateTests {
    @Test(
        "a receiver is green only if all has arrived, and its numbers are those of all deliveries",
        arguments: [
            ([:], false, "todo", "none sent"),
            ([.delivered: 3], false, "done", "3 of 3 delivered"),
            ([.failed: 3], true, "fail", "0 of 3 delivered"),
            ([.pending: 3], true, "stuck", "0 of 3 delivered, 3 to come"),
            ([.pending: 1, .sending: 1], false, "run", "0 of 2 delivered, 2 to come"),
            ([.delivered: 120, .failed: 1], true, "part", "120 of 121 delivered"),
            ([.delivered: 2, .pending: 1], true, "stuck", "2 of 3 delivered, 1 to come"),
        ] as [([Delivery.State: Int], Bool, String, String)])
    func states(tally: [Delivery.State: Int], hasProblem: Bool, style: String, count: String) {
        let state = ReceiverState(tally, hasProblem: hasProblem)
        #expect(state.style == style)
        #expect(state.count == count)
    }
}
