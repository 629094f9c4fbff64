package import Foundation

/// What was said to one user's device until it fell silent: segments of text with who spoke them and when
/// (streaming.md 4.5).
package struct Conversation: Hashable, Sendable {
    package enum Status: String, Sendable, CaseIterable {
        case inProgress = "in_progress"
        case processing
        case merging
        case completed
        case failed
    }

    /// What was made of it.
    package struct Summary: Hashable, Sendable {
        /// An appointment, or something else that is to happen.
        package struct Event: Hashable, Sendable {
            package let title: String
            package let description: String
            package let start: Date
            /// In minutes.
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

    /// Also its transaction's.
    package let id: String
    package let owner: Principal
    package var status: Status
    /// Which device, for example `omi` or `phone`.
    package let source: String
    package let language: String?
    package let createdAt: Date
    package let startedAt: Date
    /// When the last of it was said.
    package var finishedAt: Date
    /// How long silence may last before it is over, in seconds.
    package var timeout: Int
    package var summary: Summary
    package var urgency: Urgency
    package var visibility: String

    /// Whether silence has lasted so long that the conversation is over. `Store.overdueConversations` finds conversations
    /// by the same rule.
    package func isOverdue(at now: Date) -> Bool { now.timeIntervalSince(finishedAt) >= Double(timeout) }

    /// Whether it is the conversation that its user is having.
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

/// One thing that one person said (streaming.md 4.4).
package struct ConversationSegment: Hashable, Sendable {
    package let id: String
    package let text: String
    /// `SPEAKER_00` and so on.
    package var speaker: String
    package var isUser: Bool
    package var personID: String?
    /// In seconds, as its sender has it: from the beginning of the conversation, or since 1970.
    package let start: Double
    package let end: Double
    /// Who heard it: `edge_asr` for a device, or a recogniser's name.
    package let provider: String?
    /// From 0 to 1, where the sender says.
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

    /// The number at the end of the speaker's name; 0 where there is none that can be one.
    package var speakerID: Int {
        let digits = speaker.utf8.reversed().prefix(while: \.isDigit).reversed()
        return Array(digits).number ?? 0
    }

    /// Whether its sender has said when it was spoken.
    package var isTimed: Bool { start != 0 || end != 0 }
}

/// How pressing what was said is: a rule of thumb, for tests, and no medical device (streaming.md 4.8).
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

/// A picture that was sent with a conversation.
package struct ConversationPhoto: Hashable, Sendable {
    package let id: String
    /// As it came.
    package let base64: String
    package let createdAt: Date

    package init(id: String, base64: String, createdAt: Date) {
        self.id = id
        self.base64 = base64
        self.createdAt = createdAt
    }
}

/// Something worth knowing of a user beyond one conversation (streaming.md 4.8).
package struct Memory: Hashable, Sendable {
    package let id: String
    package var content: String
    package let category: String
    package var visibility: String
    package let createdAt: Date
    package var updatedAt: Date
    /// Nil when a person has added it.
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
