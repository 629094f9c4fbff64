import Basics
import Foundation
import HTTPTypes
import ScribeRuntime
import ScribeServer
import ServerTestSupport
import TestSupport
import Testing

@testable import Console

/// Receivers, deliveries and fault rules, on pages of the console.
struct ConsoleWebhooksTests {
    private static let receiver = "http://127.0.0.1:81/hook?of=mine"

    @Test("a delivery's page has its receiver's host, and a command that posts there with the delivery's signature")
    func command() async throws {
        var server = try TestServer()
        server.configuration.webhookPauses = [.seconds(10)]
        let manual = server.manual
        try await server.run { anonymous in
            let client = try await anonymous.login()
            let hook = #"{"url":"\#(Self.receiver)","events":["session.completed"],"secret":"key"}"#
            let made = try await client.post("/voice/v1/webhooks", hook)
            let inbox = try await client.post(
                "/voice/v1/webhooks", #"{"url":"inbox","events":["session.completed"],"secret":"key"}"#)
            for id in [try made["webhook_id"], try inbox["webhook_id"]] {
                #expect(try await client.post("/__admin/webhooks/\(id)/test", "{}").status == 202)
            }
            try await manual.waitFor(.delivery)
            _ = try await client.delivered(1)
            let visitor = try await ConsoleVisitor(anonymous)
            let list = try await visitor.page("/requests?only=webhooks").text
            #expect(list.contains("127.0.0.1:81/hook?of=mine"))
            var pages: [String] = []
            for match in list.matches(of: /\/__console(\/requests\/[0-9]+)"/) {
                pages.append(try await visitor.page(String(match.1)).text)
            }
            let page = try #require(pages.first { $0.contains("127.0.0.1:81") })
            let command = try #require(page.components(separatedBy: "h-cu").last)
                .replacing("&#39;", with: "'").replacing("&quot;", with: "\"").replacing("&amp;", with: "&")
            #expect(command.contains("-X 'POST' '\(Self.receiver)'"))
            #expect(!command.contains("localhost") && !command.contains("***"))
            let time = try #require(command.firstMatch(of: /X-MSA-Signature: (t=([0-9]+),v1=[0-9a-f]{64})'/))
            let body = try #require(command.firstMatch(of: /--data-raw '([^']+)'/)).1
            let signed = Date(timeIntervalSince1970: try #require(Double(time.2)))
            #expect(time.1 == WebhookSignature.timed(of: Data(body.utf8), key: "key", at: signed))
            #expect(pages.contains { $0.contains("it has no receiver") && !$0.contains("In a shell") })
        }
    }

    @Test("a receiver that gets nothing is not green, and its deliveries say when they are tried again, and of what")
    func receivers() async throws {
        var server = try TestServer()
        server.configuration.webhookPauses = [.seconds(10)]
        let manual = server.manual
        try await server.run { anonymous in
            let client = try await anonymous.login()
            let hook = #"{"url":"\#(Self.receiver)","events":["session.completed"]}"#
            let made = try await client.post("/voice/v1/webhooks", hook)
            let visitor = try await ConsoleVisitor(anonymous)
            let before = try await visitor.page("/webhooks").text
            #expect(before.contains("none sent") && before.contains("i-s-todo") && !before.contains("i-s-done"))
            let trigger = #"{"event":"session.completed","transaction":"i-1"}"#
            #expect(try await client.post("/__admin/webhooks/trigger", trigger).status == 202)
            try await manual.waitFor(.delivery)
            let open = try await visitor.page("/webhooks").text
            #expect(
                open.contains("0 of 1 delivered, 1 to come")
                    && open.contains("next <time datetime=\"2026-05-10T09:12:43"))
            #expect(open.contains("<span class=\"bad\">nobody answers there, or not in time</span>"))
            #expect(open.contains("/__console/consultations/b-demo/i-1\""))
            #expect(open.contains("Content-Type: application/json") && open.contains("\n  &quot;session_id&quot;: "))
            manual.advance(by: .seconds(10))
            _ = try await client.deliveries("failed", count: 1)
            let failed = try await visitor.page("/webhooks").text
            #expect(failed.contains("Nothing arrives, b-demo") && failed.contains("0 of 1 delivered<"))
            #expect(!failed.contains("i-s-done"))
            #expect(try !made["webhook_id"].isEmpty)
        }
    }

    @Test("a fault rule that is off is shown off, and can be switched on again")
    func faults() async throws {
        try await TestServer().run { client in
            let rule = #"{"id":"mine","path":"/ping","status":503}"#
            #expect(try await client.post("/__admin/faults", rule).status == 201)
            let visitor = try await ConsoleVisitor(client)
            let isOn = #"id="o-mine" checked"#
            #expect(try await visitor.page("/bench").text.contains(isOn))
            let off = try await visitor.act(.patch, "/admin/faults/mine", #"{"is_on":false}"#)
            #expect(off.status == 200)
            let page = try await visitor.page("/bench").text
            #expect(page.contains(#"id="o-mine""#) && !page.contains(isOn) && !page.contains("1 on"))
            #expect(page.contains("[&quot;PATCH&quot;,&quot;faults/mine&quot;,{&quot;is_on&quot;:true}]"))
            let next = #"{"id":"once","path":"/ping","status":503}"#
            #expect(try await client.post("/__admin/faults/next", next).status == 201)
            #expect(try await client.get("/ping").status == 503)
            let used = try await visitor.page("/bench").text
            #expect(used.contains("once, used up") && !used.contains(#"id="o-once" checked"#))
        }
    }

    @Test("the console lists the requests to which any fault rule was applied")
    func applied() async throws {
        try await TestServer().run { anonymous in
            let client = try await anonymous.login()
            let rule = #"{"id":"mine","operation":"initTransaction","status":503}"#
            #expect(try await client.post("/__admin/faults", rule).status == 201)
            #expect(try await client.initialise("i-1").status == 503)
            #expect(try await client.status("i-1").status != 503)
            let visitor = try await ConsoleVisitor(anonymous)
            let page = try await visitor.page("/requests?only=faults").text
            #expect(page.contains("init/i-1") && !page.contains("status/i-1"))
            for pattern in ["m*", "mine"] {
                let found = try await client.get("/__admin/requests?fault=\(pattern)")
                #expect(found.json["requests"]?.arrayValue?.count == 1)
            }
            #expect(try await client.get("/__admin/requests?fault=m").json["requests"]?.arrayValue?.isEmpty == true)
        }
    }
}
