import ArgumentParser
import Basics
import ScribeDomain
import ScribeRuntime

struct WebhookCommands: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "webhooks",
        abstract: "List webhooks and deliveries of a running server, send a test event, and repeat deliveries.",
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

    var line: String {
        [
            webhookId, style, businessId, events.isEmpty ? "all events" : events.joined(separator: ","), "->", endpoint,
            signed ? "signed" : "not signed",
        ].joined(separator: "  ")
    }
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

struct TriggerCommand: OperatorCommand {
    static let configuration = CommandConfiguration(
        commandName: "trigger", abstract: "Send an event to all webhooks that subscribe to it.")

    @OptionGroup var control: ControlOptions

    @Argument(help: "The event's name in the API of the webhooks, such as session.completed.")
    var event: String

    @Option(help: ArgumentHelp("The id in the message; by default an invented one.", valueName: "id"))
    var transaction: String?

    @Option(help: ArgumentHelp("Only webhooks of this business.", valueName: "id"))
    var business: String?

    @Option(help: ArgumentHelp("The namespace; by default the server's own.", valueName: "name"))
    var namespace: String?

    @Flag(help: "Print JSON.")
    var json = false

    private struct Triggered: Decodable {
        let deliveryIds: [String]
    }

    func client() throws -> ControlClient {
        try control.client(in: namespace.map { try NamespaceName(argument: $0) })
    }

    func call() -> OperatorCall {
        let body: JSON = [
            "event": .string(event), "transaction": transaction.map(JSON.string),
            "business": business.map(JSON.string),
        ]
        return .init("POST", "webhooks/trigger", body) { (triggered: Triggered) in
            let ids = triggered.deliveryIds
            return ids.isEmpty ? "no webhook subscribes to it" : "deliveries: \(ids.joined(separator: ", "))"
        }
    }
}

struct ListWebhooks: OperatorCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Print the registrations, or with --deliveries what was sent to them.")

    @OptionGroup var control: ControlOptions

    @Flag(help: "Print the deliveries, newest first.")
    var deliveries = false

    @Option(help: "Print only deliveries in this state: pending, sending, delivered or failed.")
    var state: String?

    @Flag(help: "Print JSON.")
    var json = false

    func validate() throws {
        if let state, Delivery.State(rawValue: state) == nil {
            throw ValidationError("--state: '\(state)' is not one of pending, sending, delivered, failed")
        }
    }

    func call() -> OperatorCall {
        guard deliveries || state != nil else {
            return .init("GET", "webhooks") { (answer: [String: [RegisteredWebhook]]) in
                let lines = answer["webhooks"]?.map(\.line) ?? []
                return lines.isEmpty ? "no webhooks are registered" : lines.joined(separator: "\n")
            }
        }
        let path = "deliveries?limit=1000\(state.map { "&state=\($0)" } ?? "")"
        return .init("GET", path) { (answer: [String: [ListedDelivery]]) in
            let lines = answer["deliveries"]?.map(\.line) ?? []
            return lines.isEmpty ? "no deliveries" : lines.joined(separator: "\n")
        }
    }
}

struct ReplayDeliveries: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "replay", abstract: "Send a delivery again, or all failed deliveries.")

    @OptionGroup var control: ControlOptions

    @Argument(
        help: ArgumentHelp(
            "The id of a delivery, as list --deliveries prints it; by default all failed ones.", valueName: "delivery"))
    var delivery: Int64?

    @Option(help: "Only failed deliveries of this registration.")
    var webhook: Int64?

    func validate() throws {
        if delivery != nil, webhook != nil {
            throw ValidationError("a delivery and --webhook cannot be used together; leave one out")
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
        let count: Count = try await client.send("POST", "deliveries/replay", body)
        print("replayed: \(count.replayed)")
    }
}

struct TestWebhook: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "test",
        abstract: "Send a test event to a registration. Exits 0 if the first attempt was delivered, else 1.")

    @OptionGroup var control: ControlOptions

    @Argument(help: ArgumentHelp("The id of the registration, as list prints it.", valueName: "webhook"))
    var webhook: Int64

    func run() async throws {
        let client = try control.client()
        var delivery: ListedDelivery = try await client.send("POST", "webhooks/\(webhook)/test")
        // Waits for the first attempt only: the user waits at the terminal.
        let isOver: (ListedDelivery) -> Bool = { $0.state == "delivered" || $0.state == "failed" || $0.problem != nil }
        while !isOver(delivery) {
            try await WallClock.system.sleep(for: .milliseconds(100), as: .readiness)
            delivery = try await client.send("GET", "deliveries/\(delivery.deliveryId)")
        }
        print(delivery.line)
        if delivery.state != "delivered" { throw ExitCode.failure }
    }
}
