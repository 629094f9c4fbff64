import Basics
import Hummingbird
import ScribeDomain
import ScribeHTTP
import ScribeRuntime
import ScribeStore

/// `/__admin/deliveries`: lists and replays webhook deliveries: sent, pending and failed ones.
struct DeliveryControlRoutes: Sendable {
    let webhooks: Webhooks
    let store: Store
    let clock: WorldClock

    private static let longestPage = 1000

    static func add(to router: WorldRoutes<Self>) {
        router.get("deliveries", use: list)
        router.post("deliveries/replay", use: replayFailed)
        router.get("deliveries/{delivery_id}", use: read)
        router.post("deliveries/{delivery_id}/replay", use: replay)
    }

    @Sendable private func list(_ request: Request, _ context: ScribeContext) async throws -> Response {
        let query = request.query
        var filter = DeliveryFilter()
        if let word = query["state"] {
            guard let state = Delivery.State(rawValue: String(word)) else {
                throw ScribeError.invalidRequest(
                    field: "state",
                    problem: "must be one of \(Delivery.State.allCases.map(\.rawValue).joined(separator: ", "))")
            }
            filter.state = state
        }
        filter.webhook = try query.integer("webhook_id", in: 0...Int.max).map { Int64($0) }
        filter.before = try query.integer("before", in: 0...Int.max).map { Int64($0) }
        filter.session = query["session_id"].map { String($0).storable }
        filter.limit = try query.integer("limit", in: 1...Self.longestPage) ?? 100
        let found = try await store.webhooks.deliveries(filter)
        return try await .longJSON(.ok, ["deliveries": .array(found) { $0.json(webhooks.message(of: $0)) }])
    }

    @Sendable private func read(_ request: Request, _ context: ScribeContext) async throws -> Response {
        guard let id = try Self.id(context), let found = try await store.webhooks.delivery(id) else {
            throw try Self.unknownDelivery(context)
        }
        return try await .longJSON(.ok, found.json(webhooks.message(of: found)))
    }

    @Sendable private func replay(_ request: Request, _ context: ScribeContext) async throws -> Response {
        guard let id = try Self.id(context), let replayed = try await store.webhooks.replay(id, at: clock.now)
        else { throw try Self.unknownDelivery(context) }
        return try await .longJSON(.accepted, replayed.json(webhooks.message(of: replayed)))
    }

    private struct Replay: Decodable {
        let webhook: String?

        enum CodingKeys: String, CodingKey {
            case webhook = "webhook_id"
        }
    }

    @Sendable private func replayFailed(_ request: Request, _ context: ScribeContext) async throws -> Response {
        let body = try await request.decodeOptionalJSON(as: Replay.self, in: context)
        var webhook: Int64?
        if let text = body?.webhook {
            guard let id = Int64(text) else { throw ControlError.notFound(Self.quoted("webhook", text)) }
            webhook = id
        }
        let count = try await store.webhooks.replayFailed(of: webhook, at: clock.now)
        return .json(.accepted, ["replayed": .integer(count)])
    }

    private static func unknownDelivery(_ context: ScribeContext) throws -> ControlError {
        .notFound(quoted("delivery", try context.parameters.require("delivery_id")))
    }

    /// Quotes an id for an error message. Ids are numbers: other text is not repeated, since answers and logs show it.
    static func quoted(_ kind: String, _ id: String) -> String { Int64(id) == nil ? "such \(kind)" : "\(kind) '\(id)'" }

    private static func id(_ context: ScribeContext) throws -> Int64? {
        Int64(try context.parameters.require("delivery_id"))
    }
}
