import Basics
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdCore
import ScribeDomain
import ScribeHTTP
import ScribeRuntime
import ScribeStore

/// Renders the console's list of transactions, read from the database.
extension ConsoleFamily {
    func recordings(_ pageRequest: PageRequest) async throws -> Page {
        let (request, world) = (pageRequest.request, pageRequest.context.world)
        let query = request.query
        let tab = query.text("state").flatMap(StateChoice.Tab.init) ?? .all
        let search = request.searchText
        var filter = RecordingFilter()
        filter.searchesNames = settings.showsWords
        filter.kind = query.text("kind").flatMap { $0.isEmpty ? nil : RecordingKind($0) }
        filter.client = query.text("client").flatMap { $0.isEmpty ? nil : ClientID($0) }
        filter.before = query.text("before").flatMap { Int64($0) }
        let page = try await StateChoice(tab, search: search).recordings(
            filter, in: world.runtime.store.transactions
        ) { state(of: $0, pageRequest) }
        let isFiltered = tab != .all || filter.kind != nil || filter.client != nil || filter.before != nil
        let isEmpty = page.found.isEmpty && !isFiltered && search.isEmpty
        guard !isEmpty else {
            return Page(
                key: "consultations", title: "Consultations", template: "empty",
                model: [
                    "url": commandURL(pageRequest),
                    "base": origin.base(of: request, pageRequest.context) + (world.namespace?.path ?? ""),
                    "client": usualClient(pageRequest.context)?.rawValue ?? "",
                    "isNamespace": world.namespace != nil, "secret": settings.demoSecret ?? "",
                    "hasDemo": world.namespace == nil && settings.demoSecret != nil,
                ])
        }
        func link(_ changes: [String: String]) -> String { Self.link("", query, changes, pageRequest) }
        return Page(
            key: "consultations", title: "Consultations", template: "consultations",
            model: [
                "rows": page.found.map { row($0.recording, $0.state, pageRequest) }, "isNone": page.found.isEmpty,
                "older": page.next.map { link(["before": String($0)]) } ?? "", "hasOlder": page.next != nil,
                "states": StateChoice.Tab.allCases.map {
                    [
                        "title": $0.title, "href": link(["state": $0.rawValue, "before": ""]),
                        "isChosen": $0 == tab,
                    ] as ConsoleViews.Model
                },
                "kinds": Self.options(
                    settings.kinds.sorted { $0.value < $1.value }.map { ($0.key.rawValue, $0.value) },
                    chosen: filter.kind?.rawValue),
                "clients": Self.clientOptions(world.authenticator.clients.ids, chosen: filter.client),
                "search": search,
            ])
    }

    static func options(_ all: [(value: String, title: String)], chosen: String?) -> [ConsoleViews.Model] {
        all.map { ["value": $0.value, "label": $0.title, "isChosen": $0.value == chosen] }
    }

    static func clientOptions(_ all: [ClientID], chosen: ClientID?) -> [ConsoleViews.Model] {
        options(all.prefix(200).map { ($0.rawValue, $0.rawValue) }, chosen: chosen?.rawValue)
    }

    /// Builds a page's URL from the current query with `changes` applied. An empty value removes a parameter.
    static func link(
        _ path: String, _ query: FlatDictionary<Substring, Substring>, _ changes: [String: String],
        _ pageRequest: PageRequest
    ) -> String {
        var parameters: [String: String] = [:]
        for name in ["state", "kind", "client", "before", "only", "operation", "method", "status"] {
            parameters[name] = changes[name] ?? query.text(name)
        }
        parameters["namespace"] = pageRequest.context.world.namespace?.rawValue
        let text = parameters.filter { !$0.value.isEmpty }.sorted { $0.key < $1.key }
            .map { "\($0.key)=\(PercentEncoding.encode($0.value, keepingSlashes: false))" }.joined(separator: "&")
        return "/\(root)\(path)" + (text.isEmpty ? "" : "?\(text)")
    }

    private func state(of recording: RecordingSummary, _ pageRequest: PageRequest) -> RecordingState {
        state(of: recording, in: pageRequest.context.world, at: pageRequest.now)
    }

    func state(of recording: RecordingSummary, in world: World, at now: Date) -> RecordingState {
        RecordingState(
            of: RecordingState.Facts(recording, at: now, world.runtime, showsWords: settings.showsWords), at: now)
    }

    private func row(
        _ recording: RecordingSummary, _ state: RecordingState, _ pageRequest: PageRequest
    ) -> ConsoleViews.Model {
        let now = pageRequest.now
        let name = settings.showsWords ? recording.patientName ?? "" : ""
        return [
            "kind": state.style, "word": state.word,
            "name": name.isEmpty ? (settings.showsWords ? "No name given" : recording.id.rawValue) : name,
            "visit": settings.showsWords ? recording.visit ?? "" : "",
            "href": Self.recordingLink(recording.key) + pageRequest.query,
            "client": Self.clientName(recording), "family": settings.kinds[recording.kind] ?? recording.kind.rawValue,
            "strip": ConsoleViews.Markup(renderText: FileTicks.svg(recording.files)), "files": recording.files,
            "fileWord": recording.files == 1 ? "file" : "files",
            "length": recording.duration.map(RecordingState.clock) ?? "", "outcome": state.outcome,
            "ago": RecordingState.span(now.timeIntervalSince(recording.createdAt)),
            "time": recording.createdAt.apiTime, "problem": state.problem ?? "", "advice": state.advice ?? "",
            "hasProblem": state.problem != nil, "isBad": state.tone == .bad,
            "isDeleted": recording.archivedAt != nil,
        ]
    }

    static func recordingLink(_ key: Transaction.Key) -> String {
        "/\(root)/consultations/\(PercentEncoding.encode(key.business.rawValue, keepingSlashes: false))/"
            + PercentEncoding.encode(key.id.rawValue, keepingSlashes: false)
    }

    static func clientName(_ recording: RecordingSummary) -> String {
        recording.flavour.isEmpty ? recording.owner.client.rawValue : recording.flavour
    }
}

/// SVG with one tick for each file of a recording, at most 36.
enum FileTicks {
    static func svg(_ count: Int) -> String {
        guard count > 0 else { return "" }
        let shown = min(count, 36)
        let step = min(8, 72 / Double(shown))
        let width = step - (step > 4 ? 2 : 0.7)
        let path = (0..<shown).map { "M\(rounded(Double($0) * step)) 1h\(rounded(width))v12h-\(rounded(width))z" }
        return "<svg viewBox=\"0 0 72 14\" aria-hidden=\"true\"><path class=\"y\" d=\"\(path.joined())\"/></svg>"
    }

    private static func rounded(_ value: Double) -> Double { (value * 100).rounded() / 100 }
}

extension Request {
    /// The text of a search. URLs must not contain patients' names, so the page sends it in a header.
    var searchText: String { headers.value(of: .scribeSearch).flatMap { PercentEncoding.decode($0) } ?? "" }
}
