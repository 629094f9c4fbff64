package import Foundation

/// Webhook registration: a request to be notified about a business's recordings.
package struct Webhook: Hashable, Sendable {
    /// Style of a webhook: the API that registered it, which sets event names and message format.
    /// Each style has an ``EventVocabulary``. The style is stored and must never change.
    package struct Style: StringIdentifier {
        package let rawValue: String
        package init(rawValue: String) { self.rawValue = rawValue }
    }

    /// Target of a webhook's messages.
    package enum Endpoint: Hashable, Sendable {
        case address(String)
        /// No target: the messages stay on this server, to be read there.
        case inbox

        package init(_ text: String) { self = text == "inbox" ? .inbox : .address(text) }

        package var text: String {
            switch self {
            case .address(let address): address
            case .inbox: "inbox"
            }
        }

        /// URL scheme of the address in lower case; `https` for the inbox and for addresses without `http:`.
        package var scheme: String {
            if case .address(let text) = self, text.lowercased().hasPrefix("http:") { "http" } else { "https" }
        }
    }

    package let id: Int64
    package let style: Style
    package let business: BusinessID
    /// OAuth client that registered the webhook.
    package let client: ClientID
    package let user: UserID
    package let endpoint: Endpoint
    /// Subscribed event names in the webhook's style; empty for all events.
    package let events: [String]
    /// Key that signs the messages; nil for unsigned messages.
    package let signingKey: String?
    /// URL scheme at registration; the endpoint's own scheme decides.
    package let scheme: String
    /// Pauses between attempts. There is one attempt more than there are pauses.
    package let pauses: [Duration]
    package let createdAt: Date
    /// Whether an operator has paused the webhook: it gets no events meanwhile.
    package let isPaused: Bool

    package init(
        id: Int64, style: Style, business: BusinessID, client: ClientID, user: UserID, endpoint: Endpoint,
        events: [String], signingKey: String?, scheme: String, pauses: [Duration], createdAt: Date,
        isPaused: Bool = false
    ) {
        self.id = id
        self.style = style
        self.business = business
        self.client = client
        self.user = user
        self.endpoint = endpoint
        self.events = events
        self.signingKey = signingKey
        self.scheme = scheme
        self.pauses = pauses
        self.createdAt = createdAt
        self.isPaused = isPaused
    }

    /// Whether a text is a valid signing key: 1 to ``Limits/signingKey`` bytes without control characters.
    package static func isSigningKey(_ text: String) -> Bool {
        !text.isEmpty && text.isPlain && text.utf8.count <= Limits.signingKey
    }
}
