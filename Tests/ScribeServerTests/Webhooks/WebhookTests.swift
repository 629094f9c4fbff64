import Basics
import Crypto
import Foundation
import HTTPTypes
import ScribeDomain
import ServerTestSupport
import TestSupport
import Testing

@testable import Eka
@testable import Engines
@testable import ScribeHTTP
@testable import ScribeRuntime
@testable import ScribeServer

struct WebhookTests {
    private static let subscriptions = "/notification/v1/connect/webhook/subscriptions"

    @Test(
        "a webhook subscription is listed as it was created, and gets no deliveries once it is deleted",
        arguments: Transport.allCases)
    func subscriptions(transport: Transport) async throws {
        try await TestServer().run(transport) { anonymous in
            let client = try await anonymous.login()
            let made = try await client.post(
                Self.subscriptions,
                #"{"endpoint":"inbox","event_names":["v2rx.completed"],"signing_key":"key","protocol":"https"}"#)
            #expect(made.status == 201)
            #expect(try made["status"] == "success")
            let id = try made["id"]
            let plain = try await client.post(Self.subscriptions, #"{"endpoint":"http://127.0.0.1:8080/hook"}"#)
            #expect(plain.status == 201)

            let list = try await client.get(Self.subscriptions)
            #expect(list.status == 200)
            #expect(try list["msg"] == "success")
            #expect(try list["data.0.id"] == id)
            #expect(try list["data.0.signing_key"] == "key")
            #expect(try list["data.0.event_names.0"] == "v2rx.completed")
            #expect(try list["data.0.client_id"] == "dev-client")
            #expect(try list["data.1.protocol"] == "http")
            #expect(list.json["data"] != nil && !list.has("data.1.signing_key"))
            #expect(list.text.contains(#""signing_key":null"#))

            let stranger = try await anonymous.login("dev-client-2", "dev-secret-2")
            #expect(try await stranger.get(Self.subscriptions).json["data"] == .array([]))
            #expect(try await stranger.send(.delete, "\(Self.subscriptions)/\(id)").status == 404)
            let deleted = try await client.send(.delete, "\(Self.subscriptions)/\(id)")
            #expect(deleted.status == 200)
            #expect(try deleted["status"] == "webhook deleted successfully")
            #expect(try deleted["msg"] == "success")
            #expect(try await client.send(.delete, "\(Self.subscriptions)/\(id)").status == 404)
            #expect(try await client.post(Self.subscriptions, #"{"endpoint":"inbox"}"#).status == 201)
        }
    }

    @Test("the session protocol's webhooks are listed without their secrets, and removed")
    func sessionWebhooks() async throws {
        try await TestServer().run { anonymous in
            let client = try await anonymous.login()
            let made = try await client.post(
                "/voice/v1/webhooks", #"{"url":"inbox","events":["session.completed"],"secret":"not shown"}"#)
            #expect(made.status == 201)
            #expect(try made["status"] == "active")
            #expect(try made["created_at"] == "2026-05-10T09:12:33Z")
            let list = try await client.get("/voice/v1/webhooks")
            #expect(try list["webhooks.0.webhook_id"] == made["webhook_id"])
            #expect(!list.text.contains("not shown"))
            let stranger = try await anonymous.login("dev-client-2", "dev-secret-2")
            let path = "/voice/v1/webhooks/\(try made["webhook_id"])"
            #expect(try await stranger.send(.delete, path).status == 404)
            // A registration of one API is none of the other.
            let other = try await client.send(.delete, "\(Self.subscriptions)/\(try made["webhook_id"])")
            #expect(other.status == 404)
            #expect(try await client.send(.delete, path).status == 204)
            let again = try await client.send(.delete, path)
            #expect(again.status == 404)
            #expect(try again["error.code"] == "webhook_not_found")
        }
    }

    @Test("a second registration of an endpoint is refused in the vendor's words")
    func duplicate() async throws {
        try await TestServer().run { anonymous in
            let client = try await anonymous.login()
            _ = try await client.post(Self.subscriptions, #"{"endpoint":"inbox"}"#)
            let again = try await client.post(Self.subscriptions, #"{"endpoint":"inbox","signing_key":"other"}"#)
            #expect(again.status == 400)
            #expect(try again["error.message"] == "requested endpoint is already registered")
            #expect(try again["error.code"] == "INVALID_REQUEST")
            let stranger = try await anonymous.login("dev-client-2", "dev-secret-2")
            #expect(try await stranger.post(Self.subscriptions, #"{"endpoint":"inbox"}"#).status == 201)
        }
    }

    @Test(
        "a registration with an invalid endpoint, signing key or event is refused",
        arguments: [
            (#"{"endpoint":"http://user:secret@127.0.0.1/"}"#, "endpoint"),
            (#"{"endpoint":"http://127.0.0.1/#there"}"#, "endpoint"), (#"{"endpoint":"ftp://127.0.0.1/"}"#, "endpoint"),
            (#"{"endpoint":"file:///etc/passwd"}"#, "endpoint"), (#"{"endpoint":""}"#, "endpoint"),
            (#"{"endpoint":"http://no-such-host.invalid/"}"#, "endpoint"),
            (#"{"endpoint":"http://127.0.0.1:6379/"}"#, "endpoint"),
            (#"{"endpoint":"http://10.0.0.1/"}"#, "endpoint"), (#"{"endpoint":"http://169.254.169.254/"}"#, "endpoint"),
            (#"{"endpoint":"http://\#(String(repeating: "a", count: 10_240)).example/"}"#, "endpoint"),
            (#"{"endpoint":"inbox","signing_key":"a\nb"}"#, "signing_key"),
            (#"{"endpoint":"inbox","signing_key":""}"#, "signing_key"),
            (#"{"endpoint":"inbox","signing_key":"\#(String(repeating: "k", count: 1025))"}"#, "signing_key"),
            (#"{"endpoint":"inbox","event_names":[]}"#, "event_names"),
            (#"{"endpoint":"inbox","event_names":["a b"]}"#, "event_names"),
            (#"{"endpoint":"inbox","event_names":[7]}"#, "event_names"),
            (#"{"endpoint":"inbox","protocol":"sms"}"#, "protocol"), (#"{}"#, "endpoint"),
            (#"{"endpoint":null}"#, "endpoint"), (#"[]"#, "The body"),
        ])
    func refusals(body: String, field: String) async throws {
        try await TestServer().run { anonymous in
            let client = try await anonymous.login()
            let answer = try await client.post(Self.subscriptions, body)
            #expect(answer.status == 400)
            #expect(try answer["error.code"] == "INVALID_REQUEST")
            #expect(try answer["error.message"].contains(field))
            #expect(try await client.get(Self.subscriptions).json["data"] == .array([]))
            // The same words mean the same in the other API.
            let twin = body.replacing(#""endpoint""#, with: #""url""#).replacing("event_names", with: "events")
                .replacing("signing_key", with: "secret")
            let other = try await client.post("/voice/v1/webhooks", twin)
            #expect(other.status == 422, "\(twin)")
            #expect(try other["error.code"] == "invalid_request")
        }
    }

    @Test("a business has at most a hundred webhook subscriptions")
    func tooMany() async throws {
        try await TestServer().run { anonymous in
            let client = try await anonymous.login()
            for number in 1...Limits.webhooks {
                let answer = try await client.post(
                    Self.subscriptions, #"{"endpoint":"http://127.0.0.1:8080/\#(number)"}"#)
                #expect(answer.status == 201)
            }
            #expect(try await client.post(Self.subscriptions, #"{"endpoint":"inbox"}"#).status == 400)
            let other = try await client.post("/voice/v1/webhooks", #"{"url":"inbox","events":["session.ended"]}"#)
            #expect(other.status == 422)
        }
    }

    @Test(
        "a webhook delivery of a transaction is signed over the bytes that are sent", .covers("C-112"),
        arguments: ["t-1", #"ünì "quoted" \ id"#])
    func message(id: String) async throws {
        let server = try TestServer()
        try await server.run { anonymous in
            let client = try await anonymous.login()
            _ = try await client.post(Self.subscriptions, #"{"endpoint":"inbox","signing_key":"kéy"}"#)
            let path = try #require(id.addingPercentEncoding(withAllowedCharacters: .alphanumerics))
            _ = try await client.initialise(path)
            let converted = try await client.post(
                "/voice/api/v1/transaction/\(path)/convert-to-template",
                #"{"template_id":"soap","transcript":"I have a fever."}"#)
            #expect(converted.status == 202)
            #expect(try await client.status(path).status == 200)

            let delivery = try await client.delivered(1).first
            let text = try #require(delivery?["message"]?["body"]?.stringValue)
            let signature = try #require(delivery?["message"]?["headers"]?["Eka-Webhook-Signature"]?.stringValue)
            // As the vendor's receiver takes it apart.
            let parts = signature.split(separator: ",").map { $0.split(separator: "=") }
            #expect(parts.map(\.count) == [2, 2])
            #expect(parts.map(\.[0]) == ["t", "v1"])
            let key = SymmetricKey(data: Data("kéy".utf8))
            let code = HMAC<SHA256>.authenticationCode(for: Data("\(parts[0][1]).\(text)".utf8), using: key)
            #expect(String(parts[1][1]) == Hex.encode(code))
            #expect(!text.contains(": ") && !text.contains("\n"))
            let body = try JSONDocument(Data(text.utf8)).value
            #expect(body["event"]?.stringValue == "v2rx.completed")
            #expect(body["transaction_id"]?.stringValue == id)
            #expect(body["data"]?["session_id"]?.stringValue == id)
            #expect(body["payload"]?["transaction_id"]?.stringValue == id)
            #expect(body["business_id"]?.stringValue == "b-demo")
        }
    }

    @Test("a webhook cannot make the server call its own operator API")
    func ownDoor() async throws {
        let server = try TestServer()
        try await server.run(.socket) { anonymous in
            let client = try await anonymous.login()
            let port = try #require(client.port)
            for path in ["deliveries/replay", "webhooks/1/test"] {
                let made = try await client.post(
                    Self.subscriptions, #"{"endpoint":"http://127.0.0.1:\#(port)/__admin/\#(path)"}"#)
                let test = try await client.send(.post, "/__admin/webhooks/\(try made["id"])/test")
                let id = try test["delivery_id"]
                while true {
                    let now = try await client.get("/__admin/deliveries/\(id)")
                    guard let problem = now.optional("problem") else {
                        try Task.checkCancellation()
                        await Task.yield()
                        continue
                    }
                    #expect(problem == "answered 403")
                    break
                }
            }
        }
    }

    @Test("a failing receiver is retried after the pauses of its registration, and then given up")
    func attempts() async throws {
        var server = try TestServer()
        server.configuration.webhookPauses = [.seconds(10), .seconds(60)]
        let manual = server.manual
        try await server.run { anonymous in
            let client = try await anonymous.login()
            // Nobody listens there.
            let made = try await client.post(Self.subscriptions, #"{"endpoint":"http://127.0.0.1:81/"}"#)
            let id = try made["id"]
            let test = try await client.send(.post, "/__admin/webhooks/\(id)/test")
            #expect(test.status == 202)
            for pause in [10, 60] {
                try await manual.waitFor(.delivery)
                manual.advance(by: .seconds(pause))
            }
            let failed = try await client.deliveries("failed", count: 1)
            #expect(failed.first?["attempts"] == .integer(3))
            #expect(failed.first?["problem"]?.stringValue == "nobody answers there, or not in time")
            #expect(try await client.get("/metrics").text.contains(#"{style="connect",outcome="retried"} 2"#))
            #expect(try await client.get("/metrics").text.contains(#"{style="connect",outcome="failed"} 1"#))
        }
    }
}
