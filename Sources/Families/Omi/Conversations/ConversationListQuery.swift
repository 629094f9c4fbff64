import Foundation
import HummingbirdCore
import ScribeDomain
import ScribeHTTP
import ScribeStore

/// Parses the filter of the conversation list (streaming.md 4.6). By default it omits conversations in progress.
struct ConversationListQuery {
    let value: Store.ConversationQuery
    /// Whether the query asks for starred conversations or a folder: this server has none, so the list is empty.
    let isOfNone: Bool

    private static let usual: [Conversation.Status] = [.processing, .completed]

    /// Parses a query.
    /// - Throws: ``ScribeError/invalidRequest(field:problem:)``.
    init(_ query: FlatDictionary<Substring, Substring>, maxListed: Int) throws(ScribeError) {
        let page = try Page(query, maxListed: maxListed)
        var statuses: [Conversation.Status] = []
        for word in (query["statuses"] ?? "").split(separator: ",") {
            guard let status = Conversation.Status(rawValue: String(word)) else {
                throw .invalidRequest(field: "statuses", problem: "names a status that there is none of")
            }
            statuses.append(status)
        }
        isOfNone = query["starred"]?.lowercased() == "true" || !(query["folder_id"] ?? "").isEmpty
        value = Store.ConversationQuery(
            statuses: statuses.isEmpty ? Self.usual : statuses.removingDuplicates(),
            from: try Self.date(query["start_date"], "start_date"), to: try Self.date(query["end_date"], "end_date"),
            offset: page.offset, limit: page.limit)
    }

    /// Seconds since 1970, for the years 1970 to 9999.
    private static let years = 0.0...253_402_300_799

    private static func date(_ text: Substring?, _ field: String) throws(ScribeError) -> Date? {
        guard let text, !text.isEmpty else { return nil }
        let styles = [
            Date.ISO8601FormatStyle(), Date.ISO8601FormatStyle(includingFractionalSeconds: true),
            Date.ISO8601FormatStyle().year().month().day(),
        ]
        // A time without a zone is UTC, as Python, the vendor's backend language, writes it.
        for candidate in [String(text), "\(text)Z"] {
            for style in styles {
                guard let date = try? style.parse(candidate), years.contains(date.timeIntervalSince1970) else {
                    continue
                }
                return date
            }
        }
        throw .invalidRequest(field: field, problem: "must be a time such as 2026-05-10T09:00:00Z")
    }
}

/// Parses `offset` and `limit` of a list.
struct Page {
    let offset: Int
    let limit: Int

    init(_ query: FlatDictionary<Substring, Substring>, maxListed: Int) throws(ScribeError) {
        offset = try query.integer("offset", in: 0...1_000_000_000) ?? 0
        // The app asks for thousands at once, and accepts fewer.
        limit = min(try query.integer("limit", in: 1...1_000_000_000) ?? 100, maxListed)
    }
}
