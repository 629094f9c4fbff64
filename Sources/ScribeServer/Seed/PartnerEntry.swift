import Engines
import Foundation
import Outbound
import ScribeDomain
import ScribeHTTP
import Suki

/// Partner in a clients file, with its webhook.
struct PartnerEntry: Decodable, Sendable {
    /// Webhook of a partner, which is notified of its clinicians' ambient sessions.
    struct Hook: Decodable, Hashable, Sendable {
        let endpoint: Webhook.Endpoint
        let secret: String
        /// The maximum number of attempts per delivery, from 1 to 20. The vendor makes one.
        let attempts: Int

        private enum CodingKeys: String, CodingKey, CaseIterable {
            case url, secret, attempts
        }

        init(from decoder: any Decoder) throws {
            try decoder.refuseUnknownKeys(CodingKeys.allCases)
            let container = try decoder.container(keyedBy: CodingKeys.self)
            let url = try container.decode(String.self, forKey: .url)
            endpoint = Webhook.Endpoint(url)
            secret = try container.decode(String.self, forKey: .secret)
            attempts = try container.decodeIfPresent(Int.self, forKey: .attempts) ?? 1
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

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case id = "partner_id"
        case client = "client_id"
        case organisations, issuer, audience
        case file = "jwks_file"
        case address = "jwks_url"
        case isBearer = "bearer"
        case webhook
    }

    /// A partner without a webhook.
    init(_ partner: Partner) {
        self.partner = partner
        webhook = nil
    }

    init(from decoder: any Decoder) throws {
        try decoder.refuseUnknownKeys(CodingKeys.allCases)
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let keys: IssuerKeys?
        switch (
            try container.decodeIfPresent(String.self, forKey: .file),
            try container.decodeIfPresent(String.self, forKey: .address)
        ) {
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
            id: try container.decode(String.self, forKey: .id),
            client: ClientID(try container.decode(String.self, forKey: .client)), keys: keys,
            issuer: try container.decodeIfPresent(String.self, forKey: .issuer),
            audience: try container.decodeIfPresent(String.self, forKey: .audience),
            organisations: try container.decodeIfPresent([String].self, forKey: .organisations) ?? [],
            isBearer: try container.decodeIfPresent(Bool.self, forKey: .isBearer) ?? false)
        webhook = try container.decodeIfPresent(Hook.self, forKey: .webhook)
        if partner.id.isEmpty { throw UnusableEntry(problem: "a partner_id must not be empty") }
    }
}
