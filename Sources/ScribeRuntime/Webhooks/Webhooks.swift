import Engines
package import Foundation
package import Outbound
package import ScribeDomain
package import ScribeStore

/// Webhook registrations, callbacks and tests. No use case raises events: the store does, in the SQL transaction of
/// the change itself.
package struct Webhooks: Sendable {
    private let store: Store
    private let outbound: OutboundClient
    private let identifiers: WorldIdentifiers
    private let clock: WorldClock
    private let pauses: [Duration]
    private let formats: [Webhook.Style: any WebhookFormat]

    /// The time limit for the DNS lookup of an endpoint.
    private static let lookUpTime: Duration = .seconds(10)

    /// - Parameter pauses: The pauses between attempts at a delivery, for registrations from now on.
    package init(
        store: Store, outbound: OutboundClient, identifiers: WorldIdentifiers, clock: WorldClock, pauses: [Duration],
        formats: [any WebhookFormat]
    ) {
        self.store = store
        self.outbound = outbound
        self.identifiers = identifiers
        self.clock = clock
        self.pauses = pauses
        self.formats = formats.byStyle
    }

    /// Registers a webhook after checking its endpoint, events and signing key.
    /// - Parameters:
    ///   - fields: The names of endpoint, events and key in the request, for errors.
    /// - Throws: ``ScribeError/invalidRequest(field:problem:)``.
    package func register(
        _ draft: WebhookDraft, for principal: Principal,
        called fields: (endpoint: String, events: String, key: String)
    ) async throws -> Registration {
        try Limits.require(draft.events.count, atMost: Limits.webhookEvents, fields.events)
        for event in draft.events where !Self.isName(event) {
            throw ScribeError.invalidRequest(
                field: fields.events,
                problem: "must hold names such as \(formats[draft.style]?.name(of: .completed) ?? "completed")")
        }
        if let key = draft.signingKey {
            try Limits.require(key, within: Limits.signingKey, fields.key)
            guard Webhook.isSigningKey(key) else {
                throw ScribeError.invalidRequest(field: fields.key, problem: "must be a text without line breaks")
            }
        }
        if case .address(let address) = draft.endpoint { try await check(address, fields.endpoint, principal.business) }
        return try await store.webhooks.register(draft, for: principal, pauses: pauses, at: clock.now)
    }

    /// Removes a registration.
    /// - Returns: False if the business has no such registration.
    package func remove(_ id: Int64, _ style: Webhook.Style, of business: BusinessID) async throws -> Bool {
        try await store.webhooks.removeWebhook(id, style: style, of: business, at: clock.now)
    }

    /// Queues a callback to the address that a request named. It is stored when this returns.
    package func sendCallback(_ callback: Callback, at address: OutboundURL, of business: BusinessID) async throws {
        try await store.webhooks.enqueue(callback, host: address.host, of: business, at: clock.now)
    }

    // MARK: For operators

    /// Styles of registrations, sorted.
    package var styles: [String] { formats.keys.map(\.rawValue).sorted() }

    /// Names of the events that a style has.
    package func eventNames(of style: Webhook.Style) -> [String] {
        SessionEvent.allCases.compactMap { formats[style]?.name(of: $0) }
    }

    /// Removes a registration of any business.
    /// - Returns: False if there is no such registration.
    package func remove(_ id: Int64) async throws -> Bool {
        guard let webhook = try await store.webhooks.webhook(id) else { return false }
        return try await remove(id, webhook.style, of: webhook.business)
    }

    /// Queues a delivery of a test event to a registration.
    /// - Returns: Nil if there is no such registration.
    package func test(_ id: Int64) async throws -> DeliveryRecord? {
        let session = TransactionID("test-\(identifiers.uuid(.test))")
        guard let delivery = try await store.webhooks.enqueueTest(of: id, session: session, at: clock.now) else {
            return nil
        }
        return try await store.webhooks.delivery(delivery)
    }

    /// Queues a delivery of an invented event to every registration that subscribes to it.
    /// - Parameters:
    ///   - name: the event's name in the API of a registration, or the domain's.
    ///   - session: the id in the message; nil for an invented one.
    /// - Throws: ``ScribeError/invalidRequest(field:problem:)`` for an unknown name.
    package func trigger(_ name: String, of session: TransactionID?, to business: BusinessID?) async throws -> [Int64] {
        try await store.webhooks.enqueue(
            eventNamed: name, of: session ?? TransactionID("test-\(identifiers.uuid(.test))"), to: business,
            at: clock.now)
    }

    /// The headers and body of a delivery, byte for byte; nil for a callback.
    package func message(
        of record: DeliveryRecord
    ) -> (headers: [(name: String, value: String)], body: Data)? {
        guard let webhook = record.webhook, let event = record.kind, let format = formats[webhook.style] else {
            return nil
        }
        let body = format.body(
            of: event, in: TransactionID(record.session), record.detail, for: webhook, at: record.occurredAt)
        return (record.signature.map(format.headers) ?? [], body)
    }

    // MARK: Wrong input

    private func check(_ text: String, _ field: String, _ business: BusinessID) async throws {
        guard !text.utf8.contains(UInt8(ascii: "#")) else {
            throw ScribeError.invalidRequest(field: field, problem: "must hold no fragment")
        }
        do {
            try await outbound.check(try OutboundURL(text), within: Self.lookUpTime, for: business)
        } catch OutboundError.invalid(let reason) {
            throw ScribeError.invalidRequest(field: field, problem: reason)
        } catch OutboundError.forbidden {
            throw ScribeError.invalidRequest(field: field, problem: "leads to where this server may not be sent")
        } catch is OutboundError {
            throw ScribeError.invalidRequest(field: field, problem: "names a host that nobody knows")
        }
    }

    private static func isName(_ text: String) -> Bool {
        (1...Limits.webhookEvent).contains(text.utf8.count) && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }
}
