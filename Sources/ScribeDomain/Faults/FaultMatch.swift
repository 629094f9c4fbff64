/// Conditions of a rule. All must hold.
package struct FaultMatch: Hashable, Sendable {
    package var operation: String?
    package var method: String?
    /// Pattern of the path: percent-encoded as sent, without the namespace's prefix and without the query.
    package var path: Pattern?
    package var business: String?
    package var client: String?
    package var transaction: String?
    package var fields: [FieldCondition] = []
    /// Whether only requests without a body match.
    package var hasNoBody = false
    /// Event of a webhook by its name in the webhook's API, or ``FaultFacts/callback``.
    package var event: String?
    /// Only the nth of the matching requests; 1 is the first.
    package var nth: Int?
    /// Only every nth of the matching requests.
    package var every: Int?
    /// Share of the matching requests.
    package var probability: Double?

    package init() {}

    /// Whether the rule chooses among its matching requests, so that rules after it may be asked.
    package var isSelective: Bool { nth != nil || every != nil || probability != nil }

    package var needsIdentity: Bool { business != nil || client != nil }

    func holds(for facts: FaultFacts) -> Bool {
        (operation.map { $0 == facts.operation } ?? true)
            && (method.map { $0 == facts.method } ?? true)
            && (path.map { $0.matches(facts.path) } ?? true)
            && (business.map { $0 == facts.business } ?? true)
            && (client.map { $0 == facts.client } ?? true)
            && (transaction.map { facts.transactions.contains($0) } ?? true)
            && (event.map { $0 == facts.event } ?? true)
            && !(hasNoBody && facts.hasBody)
            && fields.allSatisfy { $0.holds(for: facts.values($0.place, $0.name)) }
    }
}

/// Facts about a request, or another place where a fault may apply.
package struct FaultFacts: Sendable {
    package var place: FaultPlace
    package var operation: String?
    package var method = ""
    package var path = ""
    package var business: String?
    package var client: String?
    /// Owner of the bucket of a rate limit: the client, or the address of an unknown one.
    package var source = ""
    /// Ids that may be a transaction's.
    package var transactions: [String] = []
    package var event: String?
    /// Whether a request opens a socket.
    package var opensSocket = false
    /// Whether the request's head announces a body.
    package var hasBody = false
    /// Reads the values of a header field or of a parameter of the query.
    package var values: @Sendable (FieldCondition.Place, String) -> [String] = { _, _ in [] }

    /// The event of a callback, which no API's vocabulary has.
    package static let callback = "callback"

    package init(at place: FaultPlace) { self.place = place }
}
