import Basics
import Foundation
import Hummingbird
import Journal
import Lint
import ScribeDomain
import ScribeHTTP
import ScribeRuntime

/// The journal: live requests, and one of them.
extension ConsoleFamily {
    private static let maxRequests = 200

    func requests(_ pageRequest: PageRequest) async throws -> Page {
        let query = pageRequest.request.query
        let only = query.text("only") ?? ""
        let operation = query.text("operation") ?? ""
        var call = only == "unmatched" ? "requests/unmatched" : "requests"
        call += "?limit=\(Self.maxRequests)"
        if only == "sockets" { call += "&kind=socket" }
        if only == "webhooks" { call += "&kind=delivery" }
        if only == "faults" { call += "&fault=*" }
        if !operation.isEmpty { call += "&operation=\(PercentEncoding.encode(operation, keepingSlashes: false))" }
        let found = try await control.read(call, for: pageRequest.request, pageRequest.context)
        let journal = RecordingJournal(found.status == .ok ? found.body : nil, offset: 0)
        var entries = journal.entries.reversed().map { $0 }
        if only == "errors" { entries = entries.filter { ($0.status ?? 0) >= 400 } }
        let search = (pageRequest.request.headers[.scribeSearch].flatMap { PercentEncoding.decode($0) } ?? "")
            .lowercased()
        if !search.isEmpty {
            entries = entries.filter { "\($0.path) \($0.operation) \($0.method)".lowercased().contains(search) }
        }
        let operations = Set(journal.entries.map(\.operation)).filter { !$0.isEmpty }.sorted()
        let choices = [
            ("", "All"), ("errors", "Errors"), ("unmatched", "Matched nothing"), ("faults", "Faults applied"),
            ("sockets", "Sockets"), ("webhooks", "Webhooks"),
        ]
        let tabs = choices.map { value, title -> ConsoleViews.Model in
            let href = Self.link("/requests", query, ["only": value], pageRequest)
            return ["title": title, "isChosen": value == only, "href": href]
        }
        let dropped = found.body["dropped"]?.integerValue ?? 0
        return Page(
            key: "requests", title: "Live requests", template: "requests",
            model: [
                "rows": entries.map { $0.model(root: "/\(Self.root)", pageRequest.query) }, "isNone": entries.isEmpty,
                "isOff": found.status != .ok, "dropped": dropped, "hasDropped": dropped > 0, "search": search,
                "choices": tabs,
                "operations": Self.options(operations.map { ($0, $0) }, chosen: operation),
                "clearAct": Self.act("DELETE", "requests"),
            ])
    }

    func request(_ number: Substring, _ pageRequest: PageRequest) async throws -> Page {
        guard let number = Int(number) else { throw ConsoleError.notFound }
        let found = try await control.read("requests/\(number)", for: pageRequest.request, pageRequest.context)
        guard found.status == .ok, let entry = RecordingJournal.Entry(found.body, offset: 0) else {
            return Page(key: "requests", title: "Not recorded", template: "dropped", status: .notFound)
        }
        let value = found.body
        func fields(_ side: String) -> [ConsoleViews.Model] {
            (value[side]?["headers"]?.arrayValue ?? []).map {
                ["field": $0["name"]?.stringValue ?? "", "content": $0["value"]?.stringValue ?? ""]
            }
        }
        func text(_ side: String) -> String {
            let body = value[side]?["body"]
            if let text = body?["text"]?.stringValue { return text + (body?["truncated"] != nil ? "\n…" : "") }
            return body?["size"].map { "\($0.scalarText ?? "") bytes that are no text" } ?? ""
        }
        let frames = (value["frames"]?.arrayValue ?? []).map { frame -> ConsoleViews.Model in
            let body = frame["text"]?.stringValue ?? frame["binary"]?["size"]?.scalarText.map { "\($0) bytes" }
            return [
                "at": frame["ms"]?.scalarText ?? "", "from": frame["from"]?.stringValue ?? "",
                "content": body ?? frame["close"].map { "close \($0.scalarText ?? "")" } ?? "ping",
            ]
        }
        var model = entry.model(root: "/\(Self.root)", pageRequest.query)
        model["sent"] = fields("request")
        model["received"] = fields("response")
        model["body"] = text("request")
        model["hasBody"] = !text("request").isEmpty
        model["answer"] = text("response")
        model["hasAnswer"] = !text("response").isEmpty
        model["frames"] = frames
        model["hasFrames"] = !frames.isEmpty
        model["nearest"] = value["nearest"].map {
            "\($0["method"]?.stringValue ?? "") \($0["path"]?.stringValue ?? "")"
        }
        model["hasNearest"] = value["nearest"] != nil
        model["hasReason"] = !entry.reason.isEmpty
        let findings = value["findings"]?.arrayValue ?? []
        model["findings"] = findings.map { finding -> ConsoleViews.Model in
            ["place": finding["place"]?.stringValue ?? "", "problem": finding["problem"]?.stringValue ?? ""]
        }
        model["hasFindings"] = !findings.isEmpty
        let lint = try await lint(.init(request: number), pageRequest)
        model["lint"] = lint
        model["hasLint"] = !lint.isEmpty
        let recorded =
            entry.kind == "delivery" ? pageRequest.context.world.runtime.journal?[number]?.exchange : nil
        if let recorded {
            let command = Self.curl(recorded)
            model["curl"] = command ?? ""
            model["isToReceiver"] = command != nil
        } else {
            model["curl"] = curl(entry, value, pageRequest)
        }
        return Page(key: "requests", title: "\(entry.method) \(entry.path)", template: "request", model: model)
    }
}
