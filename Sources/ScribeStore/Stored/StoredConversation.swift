import Foundation
import ScribeDomain

/// JSON of a conversation's `summary` column.
struct StoredSummary: Codable {
    private struct Event: Codable {
        let title: String
        let description: String
        let start: Double
        let duration: Int
    }

    private let title: String?
    private let overview: String?
    private let emoji: String?
    private let category: String?
    private let actionItems: [String]?
    private let events: [Event]?

    init(_ summary: Conversation.Summary) {
        title = summary.title
        overview = summary.overview
        emoji = summary.emoji
        category = summary.category
        actionItems = summary.actionItems
        events = summary.events.map {
            Event(
                title: $0.title, description: $0.description, start: $0.start.timeIntervalSince1970,
                duration: $0.duration)
        }
    }

    var value: Conversation.Summary {
        var summary = Conversation.Summary()
        summary.title = title ?? summary.title
        summary.overview = overview ?? summary.overview
        summary.emoji = emoji ?? summary.emoji
        summary.category = category ?? summary.category
        summary.actionItems = actionItems ?? []
        summary.events = (events ?? []).map {
            .init(
                title: $0.title, description: $0.description, start: Date(timeIntervalSince1970: $0.start),
                duration: $0.duration)
        }
        return summary
    }
}

/// JSON of a conversation's `urgency` column.
struct StoredUrgency: Codable {
    private struct Reason: Codable {
        let segment: String
        let text: String
    }

    private let level: String?
    private let reasons: [Reason]?

    init(_ urgency: Urgency) {
        level = urgency.level.rawValue
        reasons = urgency.reasons.map { Reason(segment: $0.segment, text: $0.text) }
    }

    var value: Urgency {
        Urgency(
            level: level.flatMap(Urgency.Level.init) ?? .none,
            reasons: (reasons ?? []).map { .init(segment: $0.segment, text: $0.text) })
    }
}
