import ScribeDomain

/// State of a webhook's receiver in the words of the console, from the outcomes of its deliveries.
struct ReceiverState: Hashable, Sendable {
    /// Class of the style sheet, which has a picture of its own.
    let style: String
    let word: String
    /// Number of deliveries that have arrived, among how many.
    let count: String

    /// - Parameters:
    ///   - tally: Number of deliveries in each state.
    ///   - hasProblem: Whether an attempt at a delivery that is still to come has failed.
    init(_ tally: [Delivery.State: Int], hasProblem: Bool) {
        let delivered = tally[.delivered, default: 0]
        let failed = tally[.failed, default: 0]
        let open = tally[.pending, default: 0] + tally[.sending, default: 0]
        let sum = delivered + failed + open
        (style, word) =
            switch (delivered, failed, open) {
            case (_, 0, 0) where delivered > 0: ("done", "All delivered")
            case (0, 1..., _): ("fail", "Nothing arrives")
            case (_, 1..., _): ("part", "Some failed")
            case (_, _, 1...): hasProblem ? ("stuck", "Being tried again") : ("run", "Being delivered")
            default: ("todo", "Nothing sent yet")
            }
        count =
            sum == 0
            ? "none sent"
            : ["\(delivered) of \(sum) delivered", open > 0 ? "\(open) to come" : nil].compactMap(\.self)
                .joined(separator: ", ")
    }
}
