import Foundation
import ScribeDomain
import ScribeHTTP
import ScribeRuntime

/// What the API says, for the socket and over REST (streaming.md 4.4, 4.6 and 4.8).
enum OmiBodies {
    static func segment(_ segment: ConversationSegment) -> JSONValue {
        .object([
            "id": .string(segment.id), "text": .string(segment.text), "speaker": .string(segment.speaker),
            "speaker_id": .integer(Int64(segment.speakerID)), "is_user": .bool(segment.isUser),
            "person_id": text(segment.personID), "start": number(segment.start), "end": number(segment.end),
            "translations": .array([]), "speech_profile_processed": .bool(true),
            "stt_provider": text(segment.provider), "confidence": segment.confidence.map(number) ?? .null,
        ])
    }

    static func conversation(
        _ conversation: Conversation, _ segments: [ConversationSegment], _ photos: [ConversationPhoto] = []
    ) -> JSONValue {
        .object([
            "id": .string(conversation.id), "created_at": time(conversation.createdAt),
            "started_at": time(conversation.startedAt), "finished_at": time(conversation.finishedAt),
            "source": .string(conversation.source), "language": text(conversation.language),
            "structured": structured(conversation.summary),
            "transcript_segments": .array(segments.map(segment)), "photos": .array(photos.map(photo)),
            "geolocation": .null, "apps_results": .array([]), "plugins_results": .array([]),
            "external_data": .object(["urgency": urgency(conversation.urgency)]), "discarded": .bool(false),
            "visibility": .string(conversation.visibility), "status": .string(conversation.status.rawValue),
            "is_locked": .bool(false), "private_cloud_sync_enabled": .bool(false), "starred": .bool(false),
            "folder_id": .null,
        ])
    }

    static func photo(_ photo: ConversationPhoto) -> JSONValue {
        .object(photoMembers(id: photo.id, photo.createdAt).merging(["base64": .string(photo.base64)]) { $1 })
    }

    /// A photo's members but for `base64`.
    static func photoMembers(id: String, _ createdAt: Date) -> [String: JSONValue] {
        ["id": .string(id), "description": .null, "created_at": time(createdAt), "discarded": .bool(false)]
    }

    static func memory(_ memory: Memory, of user: UserID) -> JSONValue {
        .object([
            "id": .string(memory.id), "uid": .string(user.rawValue), "content": .string(memory.content),
            "category": .string(memory.category), "visibility": .string(memory.visibility), "tags": .array([]),
            "created_at": time(memory.createdAt), "updated_at": time(memory.updatedAt),
            "conversation_id": text(memory.conversation), "memory_id": text(memory.conversation),
            "reviewed": .bool(memory.conversation == nil),
            "user_review": memory.conversation == nil ? .bool(true) : .null,
            "manually_added": .bool(memory.conversation == nil), "edited": .bool(memory.isEdited),
            "deleted": .bool(false), "scoring": .null,
        ])
    }

    static func recording(isThere: Bool) -> JSONValue { .object(["has_recording": .bool(isThere)]) }

    static func status(_ word: String) -> JSONValue { .object(["status": .string(word)]) }

    /// - Parameter addition: nil where there was nothing to add.
    static func added(_ addition: Conversations.Addition?) -> JSONValue {
        .object([
            "conversation_id": text(addition?.conversation.id),
            "segments": .array((addition?.segments ?? []).map(segment)),
        ])
    }

    static func urgency(_ urgency: Urgency) -> JSONValue {
        .object([
            "level": .string(urgency.level.rawValue),
            "reasons": .array(
                urgency.reasons.map { .object(["segment_id": .string($0.segment), "text": .string($0.text)]) }),
        ])
    }

    private static func structured(_ summary: Conversation.Summary) -> JSONValue {
        .object([
            "title": .string(summary.title), "overview": .string(summary.overview), "emoji": .string(summary.emoji),
            "category": .string(summary.category),
            "action_items": .array(
                summary.actionItems.map {
                    .object(["description": .string($0), "completed": .bool(false)])
                }),
            "events": .array(
                summary.events.map { event in
                    .object([
                        "title": .string(event.title), "description": .string(event.description),
                        "start": time(event.start), "duration": .integer(Int64(event.duration)),
                        "created": .bool(false),
                    ])
                }),
        ])
    }

    static func text(_ text: String?) -> JSONValue { text.map { .string($0) } ?? .null }

    private static func time(_ date: Date) -> JSONValue { .string(date.apiTime) }

    private static func number(_ value: Double) -> JSONValue { .number(value) }
}

/// What the socket tells beside segments.
enum OmiEvent {
    case status(String, String)
    case lastMemory(String)
    case session(String)
    case processingStarted(JSONValue)
    case memoryCreated(JSONValue)
    case speakerSuggestion(speaker: Int, name: String, segment: String)
    case photoProcessing(temporary: String, photo: String)
    case photoDescribed(String)
    case urgencyDetected(Urgency.Level, segments: [String])

    var body: JSONValue {
        switch self {
        case .status(let status, let text):
            event("service_status", ["status": .string(status), "status_text": .string(text)])
        case .lastMemory(let id): event("last_memory", ["memory_id": .string(id)])
        case .session(let id): event("conversation_session", ["conversation_id": .string(id)])
        case .processingStarted(let memory):
            event("memory_processing_started", ["memory": memory, "messages": .array([])])
        case .memoryCreated(let memory): event("memory_created", ["memory": memory, "messages": .array([])])
        case .speakerSuggestion(let speaker, let name, let segment):
            event(
                "speaker_label_suggestion",
                [
                    "speaker_id": .integer(Int64(speaker)), "person_id": .string(""), "person_name": .string(name),
                    "segment_id": .string(segment),
                ])
        case .photoProcessing(let temporary, let photo):
            event("photo_processing", ["temp_id": .string(temporary), "photo_id": .string(photo)])
        case .photoDescribed(let id):
            event("photo_described", ["photo_id": .string(id), "description": .string(""), "discarded": .bool(false)])
        case .urgencyDetected(let level, let segments):
            event(
                "urgency_detected",
                ["level": .string(level.rawValue), "segment_ids": .array(segments.map { .string($0) })])
        }
    }

    private func event(_ type: String, _ members: [String: JSONValue]) -> JSONValue {
        .object(members.merging(["type": .string(type)]) { first, _ in first })
    }
}
