package import Foundation

/// That somebody wants to be told of what becomes of a business's consultations.
package struct Webhook: Hashable, Sendable {
    /// Whose API it was registered by, which says what events are called and what is sent.
    /// An ``EventVocabulary`` belongs to each. It is stored: words never change.
    package struct Style: StringIdentifier {
        package let rawValue: String
        package init(rawValue: String) { self.rawValue = rawValue }
    }

    /// Where it is told.
    package enum Endpoint: Hashable, Sendable {
        case address(String)
        /// Nowhere: what would be sent is kept here, to be looked at.
        case inbox

        package init(_ text: String) { self = text == "inbox" ? .inbox : .address(text) }

        package var text: String {
            switch self {
            case .address(let address): address
            case .inbox: "inbox"
            }
        }

        /// The scheme of the address in lower case; `https` for an address without `http:` and for the inbox.
        package var scheme: String {
            if case .address(let text) = self, text.lowercased().hasPrefix("http:") { "http" } else { "https" }
        }
    }

    package let id: Int64
    package let style: Style
    package let business: BusinessID
    /// Who registered it.
    package let client: ClientID
    package let user: UserID
    package let endpoint: Endpoint
    /// By their names in its style; empty for all.
    package let events: [String]
    /// With what its messages are signed; nil for not at all.
    package let signingKey: String?
    /// As it was registered; the endpoint's scheme decides.
    package let scheme: String
    /// Between one attempt and the next. There is one attempt more than there are pauses.
    package let pauses: [Duration]
    package let createdAt: Date

    package init(
        id: Int64, style: Style, business: BusinessID, client: ClientID, user: UserID, endpoint: Endpoint,
        events: [String], signingKey: String?, scheme: String, pauses: [Duration], createdAt: Date
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
    }

    /// Whether a text can sign messages: a text of 1 to ``Limits/signingKey`` bytes without control characters.
    package static func isSigningKey(_ text: String) -> Bool {
        !text.isEmpty && text.isPlain && text.utf8.count <= Limits.signingKey
    }
}
