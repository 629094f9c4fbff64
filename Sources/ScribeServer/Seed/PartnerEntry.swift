import Engines
import Foundation
import Outbound
import ScribeDomain
import ScribeHTTP
import Suki

/// Partner in a clients file, with its webhook.
struct PartnerEntry: Sendable {
    /// Webhook of a partner, which is notified of its clinicians' ambient sessions.
    struct Hook: Hashable, Sendable {
        let endpoint: Webhook.Endpoint
        let secret: String
        /// The maximum number of attempts per delivery, from 1 to 20. The vendor makes one.
        let attempts: Int

        init(_ fields: FileFields) throws {
            let url = try fields.text("url")
            endpoint = Webhook.Endpoint(url)
            secret = try fields.text("secret")
            attempts = try fields.integer(ifPresent: "attempts") ?? 1
            if case .address = endpoint, (try? OutboundURL(url)) == nil {
                throw UnusableEntry(problem: "a webhook's url is http or https, or 'inbox'")
            }
            guard Webhook.isSigningKey(secret) else {
                throw UnusableEntry(problem: "a webhook's secret must be a text without line breaks")
            }
            guard (1...20).contains(attempts) else {
                throw UnusableEntry(problem: "a webhook's attempts are 1 to 20")
            }
        }
    }

    let partner: Partner
    let webhook: Hook?

    static let keys = [
        "partner_id", "client_id", "organisations", "issuer", "audience", "jwks_file", "jwks_url", "bearer", "webhook",
    ]

    /// A partner without a webhook.
    init(_ partner: Partner) {
        self.partner = partner
        webhook = nil
    }

    init(_ entry: FileFields) throws {
        let keys: IssuerKeys?
        switch (try entry.text(ifPresent: "jwks_file"), try entry.text(ifPresent: "jwks_url")) {
        case (nil, nil): keys = nil
        case (let path?, nil):
            guard let bytes = try? Seed.bytes(of: path) else {
                throw UnusableEntry(problem: "the jwks_file \(path) cannot be read")
            }
            keys = .set(Data(bytes))
        case (nil, let address?):
            guard (try? OutboundURL(address)) != nil else {
                throw UnusableEntry(problem: "a jwks_url is http or https")
            }
            keys = .address(address)
        case (_?, _?): throw UnusableEntry(problem: "jwks_file and jwks_url exclude each other")
        }
        partner = Partner(
            id: try entry.text("partner_id"), client: ClientID(try entry.text("client_id")), keys: keys,
            issuer: try entry.text(ifPresent: "issuer"), audience: try entry.text(ifPresent: "audience"),
            organisations: try entry.texts(ifPresent: "organisations") ?? [],
            isBearer: try entry.flag(ifPresent: "bearer") ?? false)
        webhook = try entry.fields(ifPresent: "webhook", known: ["url", "secret", "attempts"]).map(Hook.init)
        if partner.id.isEmpty { throw UnusableEntry(problem: "a partner_id must not be empty") }
    }
}
