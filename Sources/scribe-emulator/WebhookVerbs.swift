import ArgumentParser
import Foundation
import ScribeDomain
import ScribeRuntime

struct WebhookVerbs: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "webhooks",
        abstract: "See whom a running server tells, try one, and tell again what was not heard.",
        subcommands: [ListWebhooks.self, ReplayDeliveries.self, TestWebhook.self]
    )
}

private struct RegisteredWebhook: Decodable {
    let webhookId: String
    let style: String
    let businessId: String
    let endpoint: String
    let events: [String]
    let signed: Bool
}

private struct ListedDelivery: Decodable {
    let deliveryId: String
    let webhookId: String?
    let event: String
    let sessionId: String
    let endpoint: String
    let state: String
    let attempts: Int
    let problem: String?
    let occurredAt: String
    let nextAttempt: String?

    var line: String {
        let what = [deliveryId, state, "\(attempts)x", occurredAt, event, sessionId, "->", endpoint]
        let why = [problem.map { "(\($0))" }, nextAttempt.map { "next \($0)" }].compactMap(\.self)
        return (what + why).joined(separator: "  ")
    }
}

struct ListWebhooks: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Print the registrations, or what was delivered to them.")

    @OptionGroup var control: ControlOptions

    @Flag(help: "Print deliveries, the newest first.")
    var deliveries = false

    @Option(help: "Only deliveries that are pending, sending, delivered or failed.")
    var state: String?

    @Flag(help: "Print JSON.")
    var json = false

    func validate() throws {
        if let state, Delivery.State(rawValue: state) == nil {
            throw ValidationError("--state: '\(state)' is none of pending, sending, delivered, failed")
        }
    }

    func run() async throws {
        let client = try control.client()
        let asksForDeliveries = deliveries || state != nil
        let path = asksForDeliveries ? "deliveries?limit=1000\(state.map { "&state=\($0)" } ?? "")" : "webhooks"
        let data = try await client.data("GET", path)
        if json { return print(String(decoding: data, as: UTF8.self)) }
        if asksForDeliveries {
            let answer: [String: [ListedDelivery]] = try client.read(data)
            let found = answer["deliveries"] ?? []
            print(found.isEmpty ? "no deliveries" : found.map(\.line).joined(separator: "\n"))
        } else {
            let answer: [String: [RegisteredWebhook]] = try client.read(data)
            let lines = (answer["webhooks"] ?? []).map { webhook in
                let events = webhook.events.isEmpty ? "all events" : webhook.events.joined(separator: ",")
                return [
                    webhook.webhookId, webhook.style, webhook.businessId, events, "->", webhook.endpoint,
                    webhook.signed ? "signed" : "not signed",
                ].joined(separator: "  ")
            }
            print(lines.isEmpty ? "no webhooks are registered" : lines.joined(separator: "\n"))
        }
    }
}

struct ReplayDeliveries: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "replay", abstract: "Deliver once more: one delivery, or all that have failed.")

    @OptionGroup var control: ControlOptions

    @Argument(help: ArgumentHelp("A delivery; all that have failed without it.", valueName: "delivery"))
    var delivery: Int64?

    @Option(help: "Only what has failed of this registration.")
    var webhook: Int64?

    func validate() throws {
        if delivery != nil, webhook != nil {
            throw ValidationError("a delivery and --webhook exclude each other")
        }
    }

    private struct Count: Decodable {
        let replayed: Int
    }

    func run() async throws {
        let client = try control.client()
        if let delivery {
            let replayed: ListedDelivery = try await client.send("POST", "deliveries/\(delivery)/replay")
            return print(replayed.line)
        }
        let body: JSON = ["webhook_id": webhook.map { .string(String($0)) }]
        let count: Count = try await client.send("POST", "deliveries/replay", Data(body.bytes))
        print("replayed: \(count.replayed)")
    }
}

struct TestWebhook: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "test",
        abstract: "Tell a registration of something made up; exit code 0 says that it was heard at once.")

    @OptionGroup var control: ControlOptions

    @Argument(help: ArgumentHelp("The registration, as list prints it.", valueName: "webhook"))
    var webhook: Int64

    func run() async throws {
        let client = try control.client()
        var delivery: ListedDelivery = try await client.send("POST", "webhooks/\(webhook)/test")
        // Until the first attempt is over: whoever tries it is at the keyboard.
        let isOver: (ListedDelivery) -> Bool = { $0.state == "delivered" || $0.state == "failed" || $0.problem != nil }
        while !isOver(delivery) {
            try await WallClock.system.sleep(for: .milliseconds(100), as: .readiness)
            delivery = try await client.send("GET", "deliveries/\(delivery.deliveryId)")
        }
        print(delivery.line)
        if delivery.state != "delivered" { throw ExitCode.failure }
    }
}
