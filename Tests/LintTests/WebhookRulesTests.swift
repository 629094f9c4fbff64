import Foundation
import HTTPTypes
import Journal
import ScribeDomain
import TestSupport
import Testing

@testable import Lint

@Suite("Lint's rules about the receivers of webhooks")
struct WebhookRulesTests {
    static let seeded = [WebhookRules.slow, WebhookRules.unverified]

    private func found(after seconds: Int, status: HTTPResponse.Status, isSignedWrongly: Bool) -> [String] {
        let written = WrittenJournal()
        let record = written.record(
            .delivery, HTTPRequest(method: .post, scheme: "https", authority: "receiver.example", path: "/hook"))
        record.update { exchange in
            exchange.delivery = ("v2rx.completed", 1, isSignedWrongly)
            return exchange.answer(status)
        }
        written.clock.advance(by: .seconds(seconds))
        record.end(.whole)
        return WebhookRules.found(in: written.exchanges).map(\.rule.id)
    }

    @Test("a receiver that takes long, or that accepts a wrong signature, is told")
    func rules() {
        #expect(found(after: 1, status: .ok, isSignedWrongly: false) == [])
        #expect(found(after: 6, status: .ok, isSignedWrongly: false) == ["webhook-slow"])
        #expect(found(after: 1, status: .ok, isSignedWrongly: true) == ["webhook-unverified"])
        #expect(found(after: 1, status: .forbidden, isSignedWrongly: true) == [])
    }
}
