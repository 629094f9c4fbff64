import Crypto
import Foundation
import ScribeDomain
import ServerTestSupport
import TestSupport
import Testing

@testable import ScribeHTTP

struct TicketsTests {
    private let principal = Principal(business: .init("b"), user: .init("u"), doctor: .init("o"), client: .init("c"))

    @Test("a ticket is valid for one purpose, until its expiry, and in one spelling only")
    func spellings() throws {
        let manual = ManualClock()
        let tickets = Tickets(key: SymmetricKey(data: Data(count: 32)), clock: manual.world)
        let ticket = try tickets.issue("read", for: "s", to: principal, lifetime: 60)
        #expect(tickets.redeem(ticket, "read")?.subject == "s")
        #expect(tickets.redeem(ticket, "write") == nil)
        let parts = ticket.split(separator: ".").map(String.init)
        let last = try #require(parts[1].last)
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
        let place = try #require(alphabet.firstIndex(of: last))
        // Bits that mean nothing: 32 bytes leave two of them in the last character.
        let others = (0..<4).map { alphabet[place & ~3 | $0] }.filter { $0 != last }.map {
            "\(parts[0]).\(parts[1].dropLast())\($0)"
        }
        for other in [
            ticket + "=", ticket + "==", "\(parts[0])=.\(parts[1])", ticket + ".", ticket + " ", ticket + "\n",
            "\(parts[0]).", "." + parts[1],
        ] + others {
            #expect(tickets.redeem(other, "read") == nil, "\(other)")
        }
        manual.advance(by: .seconds(61))
        #expect(tickets.redeem(ticket, "read") == nil)
    }

    @Test(
        "a text that is not canonical URL-safe base64 is refused",
        arguments: ["YQ==", "YQ=", "YR", "Y+", "Y/", "Y Q", "é"])
    func base64(text: String) {
        #expect(Base64URL.decode(text) == nil)
    }
}
