import Basics
import Journal
import ScribeHTTP

/// Rules about single requests, which the server checks as they come.
enum ContractRules {
    static let outside = LintRule(
        "outside-contract", .warning, row: "ci.md#your-requests-as-they-come",
        "A request does not fit the API document",
        why: "This server serves it all the same. A cloud may refuse it, or ignore the part.",
        fix: "Send what openapi/scribe.yaml says; validate strict refuses the rest.")

    static let rules = [outside]

    static func found(in exchanges: [LintedExchange]) -> [Found] {
        let requests = exchanges.map { ($0, $0.shown.exchange.findings.filter { !$0.isOfAnswer }) }
            .filter { !$0.1.isEmpty }
        // A finding for each operation: the next one may have another cause.
        return Dictionary(grouping: requests) { $0.0.operation }.sorted { $0.key < $1.key }.compactMap {
            operation, requests in
            guard let first = requests.first?.1.first else { return nil }
            return Found(
                outside, "\(requests.count.counted("request")) of \(operation), first: \(first.text)", requests.map(\.0)
            )
        }
    }
}
