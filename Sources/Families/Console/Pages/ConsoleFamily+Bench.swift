import Basics
import Foundation
import Hummingbird
import ScribeDomain
import ScribeHTTP

/// The test bench: faults, clock, namespaces and snapshots.
extension ConsoleFamily {
    /// A fault that the page has a switch for.
    struct Switch: Sendable {
        let id: String
        let title: String
        let detail: String
        let rule: [JSON.Member]
        /// The rule as the command line takes it.
        let command: String
    }

    static let switches = [
        Switch(
            id: "console-uploads", title: "1 upload in 4 is refused",
            detail: "503 SlowDown; the client should send it again",
            rule: [("operation", "PutObject"), ("code", "SlowDown"), ("every", 4)],
            command: "operation=PutObject code=SlowDown every=4"),
        Switch(
            id: "console-webhooks", title: "Webhooks come twice",
            detail: "Each message is sent again; a receiver must know it",
            rule: [("operation", "webhook"), ("twice", true)], command: "operation=webhook twice=true"),
        Switch(
            id: "console-notes", title: "Notes take 20 s", detail: "Polls are held and come back without a note",
            rule: [("operation", "note"), ("delay", "20s")], command: "operation=note delay=20s"),
        Switch(
            id: "console-failure", title: "Recognition fails", detail: "transcription_failed in every result",
            rule: [("operation", "transcription"), ("fail", "transcription_failed")],
            command: "operation=transcription fail=transcription_failed"),
        Switch(
            id: "console-sockets", title: "Live sockets drop",
            detail: "Without a close frame, after 40 messages of the client",
            rule: [("operation", "openListenSocket"), ("after_received", 40)],
            command: "operation=openListenSocket after_received=40"),
        Switch(
            id: "console-slow", title: "Everything is slow", detail: "1 to 3 s before each answer",
            rule: [("path", "*"), ("delay", "1s..3s")], command: "path='*' delay=1s..3s"),
        Switch(
            id: "console-limit", title: "Rate limit, 5 a second", detail: "429 with Retry-After, for each client",
            rule: [("path", "/voice/*"), ("limit", "5/1s")], command: "path='/voice/*' limit=5/1s"),
    ]

    func bench(_ pageRequest: PageRequest) async throws -> Page {
        let (request, context) = (pageRequest.request, pageRequest.context)
        func read(_ path: String) async throws -> (isFound: Bool, body: JSONValue) {
            let (status, body) = try await control.read(path, for: request, context)
            return (status == .ok, body)
        }
        let faults = try await read("faults").body["faults"]?.arrayValue ?? []
        let clock = try await read("clock").body
        let spaces = try await read("namespaces")
        let snapshots = try await read("snapshots")
        let others = try await read("operations").body["others"]?.arrayValue ?? []
        let known = Set(Self.switches.map(\.id))
        let refusals = self.refusals(pageRequest)
        var model: ConsoleViews.Model = [:]
        model["stateRefusal"] = refusals.ofState ?? ""
        model["refusal"] = refusals.ofOneServer ?? ""
        model["switches"] = Self.switches.map { one -> ConsoleViews.Model in
            let rule = faults.first { $0["id"]?.stringValue == one.id }
            let isOn = rule.map(Self.isOn) ?? false
            let path = "faults/\(one.id)"
            let act =
                isOn
                ? Self.act("DELETE", path)
                : rule == nil
                    ? Self.act("POST", "faults", .object([("id", .string(one.id))] + one.rule))
                    : Self.switchedOn(path, rule)
            return [
                "id": one.id, "title": one.title, "detail": one.detail, "isOn": isOn, "act": act,
                "hits": Self.hits(rule), "done": "\(one.title): \(isOn ? "off" : "on")",
                "command": isOn ? "fault clear \(one.id)" : "fault add id=\(one.id) \(one.command)",
            ]
        }
        model["others"] = faults.filter { !known.contains($0["id"]?.stringValue ?? "") }.map(Self.other)
        model["hasFaults"] = !faults.isEmpty
        model["clearAct"] = Self.act("DELETE", "faults")
        model.merge(FaultTarget.model(FaultTarget.all(.documented, others: others.compactMap(\.stringValue)))) { $1 }
        model.merge(Self.clock(clock)) { $1 }
        let sockets = try await read("sockets").body["sockets"]?.arrayValue ?? []
        model["sockets"] = sockets.map(Self.socket)
        model["hasSockets"] = !sockets.isEmpty
        let list = spaces.body["namespaces"]?.arrayValue ?? []
        model["spaces"] = list.map { space -> ConsoleViews.Model in
            let name = space["name"]?.stringValue ?? ""
            return [
                "space": name, "used": ConsoleViews.moment(space["last_used_at"]) as Any,
                "href": "/\(Self.root)?namespace=\(name)", "connect": "/\(Self.root)/connect?namespace=\(name)",
                "act": Self.act("DELETE", "namespaces/\(name)"),
            ]
        }
        model["hasSpaces"] = !list.isEmpty
        model["areSpacesOff"] = !spaces.isFound
        let saved = snapshots.body["snapshots"]?.arrayValue ?? []
        model["snapshots"] = saved.map { snapshot -> ConsoleViews.Model in
            let name = snapshot["name"]?.stringValue ?? ""
            return [
                "snapshot": name, "made": ConsoleViews.moment(snapshot["created_at"]) as Any,
                "bytes": Self.size(snapshot["size"]?.integerValue ?? 0),
                "restoreAct": Self.act("POST", "snapshots/\(name)/restore", .object([])),
                "deleteAct": Self.act("DELETE", "snapshots/\(name)"),
            ]
        }
        model["hasSnapshots"] = !saved.isEmpty
        model["resetAct"] = Self.act("POST", "reset", .object([]))
        return Page(key: "bench", title: "Test bench", template: "bench", model: model)
    }

    /// A rule that the page has no switch of its own for.
    private static func other(_ rule: JSONValue) -> ConsoleViews.Model {
        let id = rule["id"]?.stringValue ?? ""
        let path = "faults/\(PercentEncoding.encode(id, keepingSlashes: false))"
        let isOn = Self.isOn(rule)
        return [
            "id": id, "summary": summary(of: rule), "isOn": isOn,
            "hits": hits(rule) + (isOn || rule["is_on"] != .bool(true) ? "" : ", used up"),
            "act": isOn ? act("PATCH", path, ["is_on": false]) : switchedOn(path, rule),
            "removeAct": act("DELETE", path),
        ]
    }

    /// The act that switches a rule on; one that is used up applies once more.
    private static func switchedOn(_ path: String, _ rule: JSONValue?) -> String {
        act("PATCH", path, rule?["is_on"] == .bool(true) ? ["is_on": true, "times": 1] : ["is_on": true])
    }

    private static func socket(_ socket: JSONValue) -> ConsoleViews.Model {
        let number = socket["id"]?.scalarText ?? ""
        let path = "sockets/\(number)/close"
        var model: ConsoleViews.Model = [
            "number": number, "path": socket["path"]?.stringValue ?? "",
            "client": socket["client"]?.stringValue ?? "not logged in", "sent": socket["sent"]?.scalarText ?? "0",
            "received": socket["received"]?.scalarText ?? "0",
            "closeAct": act("POST", path, ["code": 1011]), "resetAct": act("POST", path, ["reset": true]),
        ]
        model["fault"] = socket["fault"]?.stringValue
        return model
    }

    private static func clock(_ clock: JSONValue) -> ConsoleViews.Model {
        let isFrozen = clock["mode"]?.stringValue == "frozen"
        let now = clock["now"]?.stringValue ?? ""
        var model: ConsoleViews.Model = ["clock": clock.forView, "isFrozen": isFrozen]
        model["isMoved"] = clock["mode"]?.stringValue != "system"
        model["clockTime"] = String(now.dropFirst(11).prefix(8))
        model["clockDay"] = String(now.prefix(10))
        model["freezeAct"] = act("PUT", "clock", ["mode": .string(isFrozen ? "running" : "frozen")])
        model["systemAct"] = act("PUT", "clock", ["mode": "system"])
        model["steps"] = [("+1 min", "60s"), ("+1 h", "1h"), ("+1 day", "1d")].map { title, by -> ConsoleViews.Model in
            [
                "title": title, "act": act("POST", "clock/advance", ["by": .string(by)]),
                "command": "scribe-emulator clock advance \(by)",
            ]
        }
        model["idleAct"] = act("POST", "clock/advance", ["until": "idle"])
        model["hasWaiting"] = !(clock["waiting"]?.arrayValue ?? []).isEmpty
        model["waiting"] = (clock["waiting"]?.arrayValue ?? []).prefix(8).map { one -> ConsoleViews.Model in
            let advance = one["advance"]?.stringValue ?? ""
            let seconds = advance.hasSuffix("ms") ? Double(advance.dropLast(2)).map { $0 / 1000 } : nil
            return [
                "what": one["what"]?.stringValue ?? "",
                "advance": seconds.map { $0 < 60 ? RecordingState.precise($0) : RecordingState.span($0) } ?? advance,
            ]
        }
        return model
    }

    private static func hits(_ rule: JSONValue?) -> String {
        rule?["applied"]?.scalarText.map { $0 == "1" ? "once" : "\($0) times" } ?? ""
    }

    private static func summary(of rule: JSONValue) -> String {
        guard case .object(let members) = rule else { return "" }
        return members.filter { !["id", "is_on", "matched", "applied"].contains($0.key) }.sorted { $0.key < $1.key }
            .flatMap { name, value in
                let values = if case .array(let values) = value { values } else { [value] }
                return values.compactMap { $0.scalarText.map { "\(name)=\($0)" } }
            }.joined(separator: " ")
    }
}
