import Basics
import Foundation
import Hummingbird
import ScribeDomain
import ScribeHTTP
import ScribeRuntime
import ScribeStore

/// Webhooks: receivers, and the deliveries to them.
extension ConsoleFamily {
    func webhooks(_ pageRequest: PageRequest) async throws -> Page {
        let (request, context) = (pageRequest.request, pageRequest.context)
        let hooks = try await control.read("webhooks", for: request, context).body["webhooks"]?.arrayValue ?? []
        let sent =
            try await control.read("deliveries?limit=100", for: request, context).body["deliveries"]?.arrayValue ?? []
        let (tallies, isCut) = try await context.world.runtime.store.webhooks.deliveryTallies()
        let rows = hooks.map { hook -> ConsoleViews.Model in
            let id = hook["webhook_id"]?.scalarText ?? ""
            let problem = sent.first {
                $0["webhook_id"]?.scalarText == id && $0["state"] != .string("delivered") && $0["problem"] != nil
            }?["problem"]?.stringValue
            let state = ReceiverState(
                Int64(id).flatMap { tallies[$0] } ?? [:], hasProblem: problem != nil)
            let events = (hook["events"]?.arrayValue ?? []).compactMap(\.stringValue)
            let isInbox = hook["endpoint"] == .string("inbox")
            let isPaused = hook["paused"] == .bool(true)
            return [
                "endpoint": hook["endpoint"]?.stringValue ?? "", "business": hook["business_id"]?.stringValue ?? "",
                "events": events.joined(separator: ", "), "isInbox": isInbox,
                "kind": isPaused ? "off" : state.style,
                "word": isPaused ? "Paused" : isInbox ? "Kept here" : state.word, "isPaused": isPaused,
                "pauseAct": Self.act("PATCH", "webhooks/\(id)", ["is_paused": .bool(!isPaused)]),
                "removeAct": Self.act("DELETE", "webhooks/\(id)"),
                "count": state.count, "problem": problem ?? "",
                "testAct": Self.act("POST", "webhooks/\(id)/test", .object([])),
            ]
        }
        return Page(
            key: "webhooks", title: "Webhooks", template: "webhooks",
            model: [
                "hooks": rows, "hasNoFailed": tallies.values.allSatisfy { $0[.failed, default: 0] == 0 },
                "hasHooks": !hooks.isEmpty, "isCut": isCut, "mostTallied": WebhookStore.mostTallied,
                "deliveries": sent.map { delivery($0, pageRequest) },
                "clients": Self.clientOptions(
                    context.world.authenticator.clients.ids, chosen: usualClient(context)),
                "styles": context.world.runtime.webhooks.styles.map { ["value": $0] as ConsoleViews.Model },
                "hasDeliveries": !sent.isEmpty, "replayAct": Self.act("POST", "deliveries/replay", .object([])),
            ])
    }

    private func delivery(_ delivery: JSONValue, _ pageRequest: PageRequest) -> ConsoleViews.Model {
        let state = delivery["state"]?.stringValue.flatMap(Delivery.State.init) ?? .pending
        let isFirst = delivery["next_attempt"] != nil
        let message = settings.showsWords ? delivery["message"] : nil
        let id = delivery["delivery_id"]?.scalarText ?? ""
        let attempts = delivery["attempts"]?.scalarText ?? "0"
        let session = delivery["session_id"]?.stringValue ?? ""
        let isOfRecording = delivery["webhook_id"] != nil && !session.hasPrefix("test-")
        let key = Transaction.Key(
            business: BusinessID(delivery["business_id"]?.stringValue ?? ""), id: TransactionID(session))
        return [
            "id": id, "kind": state.style, "word": state.word, "event": delivery["event"]?.stringValue ?? "callback",
            "endpoint": delivery["endpoint"]?.stringValue ?? "",
            "attempts": attempts == "1" ? "1 attempt" : "\(attempts) attempts",
            "problem": delivery["problem"]?.stringValue ?? "", "time": ConsoleViews.moment(delivery["occurred_at"]),
            "next": ConsoleViews.moment(delivery["next_attempt"]), "hasNext": isFirst,
            "isBehind": state == .pending && !isFirst, "mayReplay": state == .delivered || state == .failed,
            "session": session, "href": isOfRecording ? Self.recordingLink(key) + pageRequest.query : "",
            "message": Self.formatted(message), "hasMessage": message?["body"] != nil,
            "act": Self.act("POST", "deliveries/\(id)/replay", .object([])),
        ]
    }

    /// The headers of a message and its body, for people.
    private static func formatted(_ message: JSONValue?) -> String {
        guard let message, case .object(let headers)? = message["headers"] else { return "" }
        let body = message["body"]?.stringValue ?? ""
        let head = headers.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value.stringValue ?? "")" }
        let value = JSONDocument.untrusted(Data(body.utf8), as: JSONValue.self)
        return (head + ["", value.map { JSON.value($0).indented } ?? body]).joined(separator: "\n")
    }
}
