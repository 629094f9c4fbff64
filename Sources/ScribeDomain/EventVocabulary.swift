/// What one API calls the events of recordings, and which recordings it tells of. The family of a webhook's style
/// contributes it.
package protocol EventVocabulary: Sendable {
    /// The style of the webhooks that are registered by this API.
    var style: Webhook.Style { get }
    /// Whether a business registers an endpoint once only.
    var requiresUniqueEndpoint: Bool { get }

    /// The name of an event; nil for one that nobody is told of.
    func name(of event: SessionEvent) -> String?

    /// Whether a webhook is told of a recording.
    func notifies(_ webhook: Webhook, about recording: Transaction) -> Bool

    /// What the message says beside the event, kept as it was when the event came true; nil for nothing.
    /// - Parameter visit: reads the newest recordings of the recording's visit, the oldest of them first.
    func detail(of recording: Transaction, visit: () throws -> [TransactionID]) throws -> JSONValue?
}

extension EventVocabulary {
    package var requiresUniqueEndpoint: Bool { false }
    package func notifies(_ webhook: Webhook, about recording: Transaction) -> Bool { true }
    package func detail(of recording: Transaction, visit: () throws -> [TransactionID]) throws -> JSONValue? { nil }

    /// Whether a webhook of this style asks for an event.
    package func announces(_ event: SessionEvent, to webhook: Webhook) -> Bool {
        guard let name = name(of: event) else { return false }
        return webhook.events.isEmpty || webhook.events.contains(name)
    }
}

/// The vocabularies of all families. A webhook of a style without one is told nothing.
package struct EventVocabularies: Sendable {
    private let vocabularies: [Webhook.Style: any EventVocabulary]

    /// - Parameter vocabularies: each of a style of its own.
    package init(_ vocabularies: [any EventVocabulary] = []) {
        self.vocabularies = Dictionary(uniqueKeysWithValues: vocabularies.map { ($0.style, $0) })
    }

    package subscript(style: Webhook.Style) -> (any EventVocabulary)? { vocabularies[style] }

    package func announces(_ event: SessionEvent, to webhook: Webhook) -> Bool {
        self[webhook.style]?.announces(event, to: webhook) ?? false
    }
}
