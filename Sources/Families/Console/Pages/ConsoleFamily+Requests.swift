import Basics
import Foundation
import Hummingbird
import Journal
import ScribeDomain
import ScribeHTTP
import ScribeRuntime

/// The journal: live requests.
extension ConsoleFamily {
    private static let maxRequests = 200
    /// Most operations and clients to choose from.
    private static let maxChoices = 200

    /// Choice of the requests on the page by what became of them.
    private enum Outcome: String, CaseIterable {
        case all = ""
        case errors, unmatched, faults, sockets, webhooks

        var title: String {
            switch self {
            case .all: "All"
            case .unmatched: "Matched nothing"
            case .faults: "Faults applied"
            case .errors, .sockets, .webhooks: rawValue.prefix(1).uppercased() + rawValue.dropFirst()
            }
        }

        func holds(for exchange: Exchange, _ shown: () -> ShownExchange) -> Bool {
            let isError =
                exchange.response.map { $0.status.code >= 400 }
                ?? (exchange.kind == .delivery && exchange.reason != nil)
            return switch self {
            case .all: true
            case .errors: isError
            case .unmatched: isError && shown().isUnmatched
            case .faults: exchange.fault != nil
            case .sockets: exchange.kind == .socket
            case .webhooks: exchange.kind == .delivery
            }
        }
    }

    func requests(_ pageRequest: PageRequest) async throws -> Page {
        let query = pageRequest.request.query
        func chosen(_ name: String) -> String { query.text(name) ?? "" }
        let only = Outcome(rawValue: chosen("only")) ?? .all
        let (method, status, operation) = (chosen("method"), chosen("status"), chosen("operation"))
        let client = chosen("client")
        let search = pageRequest.request.searchText.lowercased()
        let journal = pageRequest.context.world.runtime.journal
        var (operations, clients, methods): (Set<String>, Set<String>, Set<String>) = ([], [], [])
        var counts: [Outcome: Int] = [:]
        var found: [Journal.Numbered] = []
        let index = JournalIndex.documented
        let all = journal?.entries ?? []
        for numbered in all {
            let exchange = numbered.entry.exchange
            let outline = index.outline(of: exchange)
            let ownOperation = JournalEntry.operation(outline.operation, of: exchange)
            let ownClient = exchange.principal?.client.rawValue ?? ""
            operations.insert(ownOperation)
            clients.insert(ownClient)
            methods.insert(outline.method)
            guard method.isEmpty || outline.method == method, operation.isEmpty || ownOperation == operation,
                client.isEmpty || ownClient == client,
                status.isEmpty || exchange.response.map({ "\($0.status.code / 100)xx" == status }) ?? false,
                search.isEmpty || JournalEntry(index.shown(numbered), offset: 0).contains(search)
            else { continue }
            for outcome in Outcome.allCases where outcome.holds(for: exchange, { index.shown(numbered) }) {
                counts[outcome, default: 0] += 1
                if outcome == only { found.append(numbered) }
            }
        }
        let tabs = Outcome.allCases.map { one -> ConsoleViews.Model in
            [
                "title": one.title, "isChosen": one == only, "count": counts[one, default: 0],
                "href": Self.link("/requests", query, ["only": one.rawValue], pageRequest),
            ]
        }
        func choices(_ name: String, _ all: Set<String>, _ chosen: String) -> ConsoleViews.Model {
            let known = all.union([chosen]).filter { !$0.isEmpty }.sorted().prefix(Self.maxChoices)
            return ["name": name, "choices": Self.options(known.map { ($0, $0) }, chosen: chosen)]
        }
        let dropped = journal?.counts.dropped ?? 0
        return Page(
            key: "requests", title: "Live requests", template: "requests",
            model: [
                "rows": found.suffix(Self.maxRequests).reversed().map {
                    JournalEntry(index.shown($0), offset: 0).model(pageRequest.query)
                },
                "isNone": found.isEmpty, "isOff": journal == nil || journal?.settings.mode == .off,
                "isCut": found.count > Self.maxRequests, "shown": Self.maxRequests, "matched": found.count,
                "total": all.isEmpty ? "" : String(all.count), "all": all.count, "dropped": dropped,
                "hasDropped": dropped > 0, "search": search, "tabs": tabs,
                "filters": [
                    choices("method", methods, method), choices("status", ["1xx", "2xx", "3xx", "4xx", "5xx"], status),
                    choices("operation", operations, operation), choices("client", clients, client),
                ],
                "clearAct": Self.act("DELETE", "requests"),
            ])
    }
}
