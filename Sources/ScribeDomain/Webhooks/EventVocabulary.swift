package import Basics

/// Event names of one API, and the rule which recordings its webhooks hear about.
/// The family of a webhook style contributes its vocabulary.
package protocol EventVocabulary: Sendable {
    /// Style of the webhooks that clients register through this API.
    var style: Webhook.Style { get }
    /// Whether a business can register an endpoint only once.
    var requiresUniqueEndpoint: Bool { get }

    /// Name of an event in this API; nil for an event without notification.
    func name(of event: SessionEvent) -> String?

    /// Whether a webhook is notified about a recording.
    func notifies(_ webhook: Webhook, about recording: Transaction) -> Bool

    /// Additional content of the message, stored when the event occurs; nil for none.
    /// - Parameter visit: reads the newest recordings of the recording's visit, oldest first.
    func detail(of recording: Transaction, visit: () throws -> [TransactionID]) throws -> JSONValue?
}

extension EventVocabulary {
    package var requiresUniqueEndpoint: Bool { false }
    package func notifies(_ webhook: Webhook, about recording: Transaction) -> Bool { true }
    package func detail(of recording: Transaction, visit: () throws -> [TransactionID]) throws -> JSONValue? { nil }

    /// Whether a webhook of this style subscribes to an event.
    package func subscribes(_ webhook: Webhook, to event: SessionEvent) -> Bool {
        guard let name = name(of: event) else { return false }
        return webhook.events.isEmpty || webhook.events.contains(name)
    }

    /// Whether a webhook of this style gets an event now.
    package func announces(_ event: SessionEvent, to webhook: Webhook) -> Bool {
        !webhook.isPaused && subscribes(webhook, to: event)
    }
}

/// Event vocabularies of all families. Webhooks of a style without a vocabulary receive nothing.
package struct EventVocabularies: Sendable {
    private let vocabularies: [Webhook.Style: any EventVocabulary]

    /// Creates the set of vocabularies.
    /// - Parameter vocabularies: one per style.
    package init(_ vocabularies: [any EventVocabulary] = []) {
        self.vocabularies = Dictionary(uniqueKeysWithValues: vocabularies.map { ($0.style, $0) })
    }

    package subscript(style: Webhook.Style) -> (any EventVocabulary)? { vocabularies[style] }

    /// Event names of all APIs, sorted.
    package var names: [String] {
        let names = vocabularies.values.flatMap { vocabulary in SessionEvent.allCases.compactMap(vocabulary.name(of:)) }
        return Set(names).sorted()
    }

    /// Whether a webhook subscribes to an event, by the vocabulary of its style.
    package func subscribes(_ webhook: Webhook, to event: SessionEvent) -> Bool {
        self[webhook.style]?.subscribes(webhook, to: event) ?? false
    }
}
