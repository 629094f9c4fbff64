import Basics
import Foundation
import HummingbirdCore
import ScribeDomain
import ScribeHTTP
import ScribeStore

/// Parses the filter of the conversation list (streaming.md 4.6). By default it omits conversations in progress.
struct ConversationListQuery {
    let value: ConversationStore.ConversationQuery
    /// Whether the query asks for starred conversations, for a folder or for unknown statuses alone: this server has
    /// none, so the list is empty.
    let isOfNone: Bool

    private static let usual: [Conversation.Status] = [.processing, .completed]

    /// Most words of `statuses` and of `sources`.
    private static let maxWords = 20

    /// Parses a query.
    /// - Throws: ``OmiInvalidInput``, ``OmiError/invalidValue(_:)``.
    init(_ query: FlatDictionary<Substring, Substring>, maxListed: Int) throws {
        let offset = try query.integer("offset", from: 0, to: 1_000_000_000) ?? 0
        // The app asks for thousands at once, and accepts fewer: the backend's limit of 1,000 would refuse it.
        let limit = min(try query.integer("limit", from: 1, to: 1_000_000_000) ?? 100, maxListed)
        // No conversation is discarded.
        _ = try query.boolean("include_discarded")
        let words = try Self.words("statuses", in: query)
        let sources = try Self.words("sources", in: query)
        guard sources.count <= 1 || (words.isEmpty ? Self.usual.count : words.count) <= 1 else {
            throw OmiError.invalidValue("multiple sources cannot be combined with multiple statuses")
        }
        let known = words.compactMap(Conversation.Status.init(rawValue:)).removingDuplicates()
        let statuses = words.isEmpty ? Self.usual : known
        let isStarred = try query.boolean("starred") ?? false
        isOfNone = isStarred || statuses.isEmpty || query.text("folder_id") != nil
        let (from, to) = (try Self.date("start_date", in: query), try Self.date("end_date", in: query))
        if let from, let to, from > to {
            throw OmiError.invalidValue("start_date must be earlier than or equal to end_date")
        }
        value = ConversationStore.ConversationQuery(
            statuses: statuses, sources: sources.isEmpty ? nil : sources, from: from, to: to, offset: offset,
            limit: limit)
    }

    private static func words(
        _ name: String, in query: FlatDictionary<Substring, Substring>
    ) throws(OmiError) -> [String] {
        let words = (query.text(name) ?? "").split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
        guard words.count <= maxWords else { throw .invalidValue("\(name) accepts at most \(maxWords) values") }
        return words.filter { !$0.isEmpty }
    }

    /// Seconds since 1970, for the years 1970 to 9999.
    private static let years = 0.0...253_402_300_799

    private static func date(
        _ name: String, in query: FlatDictionary<Substring, Substring>
    ) throws(OmiInvalidInput) -> Date? {
        guard let text = query.text(name) else { return nil }
        // A time without a zone is UTC, as Python, the vendor's backend language, writes it.
        for candidate in [text, "\(text)Z", "\(text)T00:00:00Z"] {
            if let date = Date(iso8601: candidate), Self.years.contains(date.timeIntervalSince1970) { return date }
        }
        throw OmiInvalidInput(
            .query, name, type: "datetime_from_date_parsing",
            "Input should be a valid datetime or date, such as 2026-05-10T09:00:00Z")
    }
}
