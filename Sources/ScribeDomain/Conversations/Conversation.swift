import Basics
package import Foundation

/// Conversation of a user's device, until silence ends it: text segments with speakers and times (streaming.md 4.5).
package struct Conversation: Hashable, Sendable {
    package enum Status: String, Sendable, CaseIterable {
        case inProgress = "in_progress"
        case processing
        case merging
        case completed
        case failed
    }

    /// Summary of a conversation: title, overview, tasks and events.
    package struct Summary: Hashable, Sendable {
        /// Appointment or other future event that a speaker names.
        package struct Event: Hashable, Sendable {
            package let title: String
            package let description: String
            package let start: Date
            /// Duration in minutes.
            package let duration: Int

            package init(title: String, description: String, start: Date, duration: Int) {
                self.title = title
                self.description = description
                self.start = start
                self.duration = duration
            }
        }

        package var title = ""
        package var overview = ""
        package var emoji = "🧠"
        package var category = "other"
        package var actionItems: [String] = []
        package var events: [Event] = []

        package init() {}
    }

    /// Id of the conversation and of its transaction.
    package let id: String
    package let owner: Principal
    package var status: Status
    /// Kind of device that recorded the conversation, for example `omi` or `phone`.
    package let source: String
    package let language: String?
    package let createdAt: Date
    package let startedAt: Date
    /// End of the last segment.
    package var finishedAt: Date
    /// Silence that ends the conversation, in seconds.
    package var timeout: Int
    package var summary: Summary
    package var urgency: Urgency
    package var visibility: String

    /// Whether silence has lasted long enough to end the conversation.
    /// `ConversationStore.overdueConversations` finds conversations by the same rule.
    package func isOverdue(at now: Date) -> Bool { now.timeIntervalSince(finishedAt) >= Double(timeout) }

    /// Whether the conversation is still open: in progress and not overdue.
    package func isCurrent(at now: Date) -> Bool { status == .inProgress && !isOverdue(at: now) }

    package var key: Transaction.Key { Transaction.Key(business: owner.business, id: TransactionID(id)) }

    package init(
        id: String, owner: Principal, status: Status = .inProgress, source: String, language: String?, createdAt: Date,
        startedAt: Date, finishedAt: Date, timeout: Int, summary: Summary = Summary(), urgency: Urgency = Urgency(),
        visibility: String = "private"
    ) {
        self.id = id
        self.owner = owner
        self.status = status
        self.source = source
        self.language = language
        self.createdAt = createdAt
        self.startedAt = startedAt
        self.finishedAt = finishedAt
        self.timeout = timeout
        self.summary = summary
        self.urgency = urgency
        self.visibility = visibility
    }
}

/// Text segment of one speaker (streaming.md 4.4).
package struct ConversationSegment: Hashable, Sendable {
    package let id: String
    package let text: String
    /// Speaker label: `SPEAKER_00` and so on.
    package var speaker: String
    package var isUser: Bool
    package var personID: String?
    /// Start in seconds as the sender counts: from the beginning of the conversation, or since 1970.
    package let start: Double
    package let end: Double
    /// Recogniser of the segment: `edge_asr` for a device, or a recogniser's name.
    package let provider: String?
    /// Confidence from 0 to 1; nil if the sender gives none.
    package let confidence: Double?

    package static let defaultSpeaker = "SPEAKER_00"

    package init(
        id: String, text: String, speaker: String = defaultSpeaker, isUser: Bool = false, personID: String? = nil,
        start: Double = 0, end: Double = 0, provider: String?, confidence: Double? = nil
    ) {
        self.id = id
        self.text = text
        self.speaker = speaker
        self.isUser = isUser
        self.personID = personID
        self.start = start
        self.end = end
        self.provider = provider
        self.confidence = confidence
    }

    /// Number at the end of the speaker label; 0 without a valid number.
    package var speakerID: Int {
        let digits = speaker.utf8.reversed().prefix(while: \.isDigit).reversed()
        return Array(digits).number ?? 0
    }

    /// Whether the sender gave the segment's times.
    package var isTimed: Bool { start != 0 || end != 0 }
}

/// Urgency of a conversation: a rule of thumb for tests, not a medical device (streaming.md 4.8).
package struct Urgency: Hashable, Sendable {
    package enum Level: String, Sendable, CaseIterable, Comparable {
        case none
        case urgent
        case emergency

        package static func < (first: Level, second: Level) -> Bool {
            let order = allCases
            return (order.firstIndex(of: first) ?? 0) < (order.firstIndex(of: second) ?? 0)
        }
    }

    /// Segment that made the conversation urgent, with its text.
    package struct Reason: Hashable, Sendable {
        package let segment: String
        package let text: String

        package init(segment: String, text: String) {
            self.segment = segment
            self.text = text
        }
    }

    package var level: Level
    package var reasons: [Reason]

    package init(level: Level = .none, reasons: [Reason] = []) {
        self.level = level
        self.reasons = reasons
    }
}

/// Picture that the client sent with a conversation.
package struct ConversationPhoto: Hashable, Sendable {
    package let id: String
    /// Image in base64, as the client sent it.
    package let base64: String
    package let createdAt: Date

    package init(id: String, base64: String, createdAt: Date) {
        self.id = id
        self.base64 = base64
        self.createdAt = createdAt
    }
}

/// Lasting fact about a user, kept beyond one conversation (streaming.md 4.8).
package struct Memory: Hashable, Sendable {
    package let id: String
    package var content: String
    package let category: String
    package var visibility: String
    package let createdAt: Date
    package var updatedAt: Date
    /// Id of the conversation that the memory comes from; nil if a person added the memory.
    package let conversation: String?
    package var isEdited: Bool

    package init(
        id: String, content: String, category: String, visibility: String = "private", createdAt: Date,
        updatedAt: Date, conversation: String?, isEdited: Bool = false
    ) {
        self.id = id
        self.content = content
        self.category = category
        self.visibility = visibility
        self.createdAt = createdAt
        self.updatedAt = updatedAt
        self.conversation = conversation
        self.isEdited = isEdited
    }
}
