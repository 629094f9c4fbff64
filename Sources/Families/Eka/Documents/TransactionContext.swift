import Basics
import Foundation
import ScribeDomain
import ScribeHTTP

/// The client's own context of a transaction: earlier sessions, documents and attachments.
struct TransactionContext: Decodable, Sendable {
    private static let lists = ["past_sessions", "documents", "attachments"]
    /// Most items in one list of the context.
    private static let limit = 1000

    private var items: [String: [JSONValue]] = [:]

    init(_ json: JSONValue) {
        for list in Self.lists {
            items[list] = json[list]?.arrayValue?.map { Self.item($0, of: list) }
        }
    }

    init(from decoder: any Decoder) throws {
        let json = try JSONValue(from: decoder).echoable(as: "context")
        for list in Self.lists {
            switch json[list] {
            case nil, .null?: break
            case .array(let values)?:
                try Limits.require(values.count, atMost: Self.limit, "context.\(list)")
                items[list] = values.map { Self.item($0, of: list) }
            case .bool?, .integer?, .number?, .digits?, .string?, .object?:
                throw ScribeError.invalidRequest(field: "context.\(list)", problem: "must be an array")
            }
        }
    }

    var json: JSONValue {
        .object(Dictionary(uniqueKeysWithValues: Self.lists.map { ($0, .array(items[$0] ?? [])) }))
    }

    /// Ids of the earlier transactions, which the API calls sessions.
    var pastSessions: [String] {
        (items["past_sessions"] ?? []).compactMap { Self.identity($0, in: "past_sessions").stringValue }
    }

    /// Adds the start times of earlier sessions to items without a date. Unknown sessions keep none.
    func dated(_ times: [String: Date]) -> TransactionContext {
        var dated = self
        dated.items["past_sessions"] = items["past_sessions"]?.map { item in
            guard case .object(var members) = item, let id = item["session_id"]?.stringValue, let time = times[id],
                members["date_epoch"] == nil || members["date_epoch"] == .null
            else { return item }
            members["date_epoch"] = .integer(Int64(saturating: time.timeIntervalSince1970))
            return .object(members)
        }
        return dated
    }

    func adding(_ more: TransactionContext) -> TransactionContext {
        var sum = self
        for (list, values) in more.items {
            // A repeated item keeps its place and gets the new content.
            var all = items[list] ?? []
            var places = Dictionary(
                all.enumerated().map { (Self.identity($1, in: list), $0) }, uniquingKeysWith: { first, _ in first })
            for value in values {
                let identity = Self.identity(value, in: list)
                if let place = places[identity] {
                    all[place] = value
                } else if all.count < Self.limit {
                    places[identity] = all.count
                    all.append(value)
                }
            }
            sum.items[list] = all
        }
        return sum
    }

    func removing(_ gone: TransactionContext) -> TransactionContext {
        var rest = self
        for (list, values) in gone.items {
            let identities = Set(values.map { Self.identity($0, in: list) })
            rest.items[list]?.removeAll { identities.contains(Self.identity($0, in: list)) }
        }
        return rest
    }

    /// Adds a document that was written for this context.
    func adding(_ document: DocumentID) -> TransactionContext {
        var more = TransactionContext(.object([:]))
        more.items["documents"] = [.string(document.rawValue)]
        return adding(more)
    }

    /// The identity of an item: an earlier session's `session_id`, an attachment's `id` (eka-js-sdk), else the whole
    /// item.
    private static func identity(_ item: JSONValue, in list: String) -> JSONValue {
        switch list {
        case "past_sessions": item["session_id"] ?? item
        case "attachments": item["id"] ?? item
        default: item
        }
    }

    /// Normalises an item: an earlier session given by its id alone becomes an object, which the client reads.
    private static func item(_ value: JSONValue, of list: String) -> JSONValue {
        guard list == "past_sessions", case .string = value else { return value }
        return .object(["session_id": value, "date_epoch": .null, "title": .null])
    }
}
