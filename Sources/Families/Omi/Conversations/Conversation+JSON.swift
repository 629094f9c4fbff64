import Basics
import Foundation
import ScribeDomain
import ScribeHTTP
import ScribeRuntime

/// Encodes segments for the socket and for REST (streaming.md 4.4, 4.6 and 4.8).
extension ConversationSegment {
    var json: JSON {
        [
            "id": .string(id), "text": .string(text), "speaker": .string(speaker), "speaker_id": .integer(speakerID),
            "is_user": .bool(isUser), "person_id": personID.map(JSON.string).orNull, "start": .number(start),
            "end": .number(end), "translations": [], "speech_profile_processed": true,
            "stt_provider": provider.map(JSON.string).orNull, "confidence": confidence.map(JSON.number).orNull,
        ]
    }
}

extension [ConversationSegment] {
    /// Approximate size of the segments as JSON, in bytes.
    var size: Int { total { $0.text.utf8.count + 400 } }
}

extension Conversation {
    /// Encodes a conversation without its segments and photos, which are streamed separately.
    var json: JSON {
        [
            "id": .string(id), "created_at": .string(createdAt.apiTime), "started_at": .string(startedAt.apiTime),
            "finished_at": .string(finishedAt.apiTime), "source": .string(source),
            "language": language.map(JSON.string).orNull, "structured": summary.json, "geolocation": .null,
            "apps_results": [], "plugins_results": [], "external_data": ["urgency": urgency.json],
            "discarded": false, "visibility": .string(visibility), "status": .string(status.rawValue),
            "is_locked": false, "private_cloud_sync_enabled": false, "starred": false, "folder_id": .null,
        ]
    }

    func json(_ segments: [ConversationSegment], _ photos: [ConversationPhoto] = []) -> JSON {
        json.adding(["photos": .array(photos, \.json), "transcript_segments": .array(segments, \.json)])
    }
}

extension Conversation.Summary {
    fileprivate var json: JSON {
        [
            "title": .string(title), "overview": .string(overview), "emoji": .string(emoji),
            "category": .string(category),
            "action_items": .array(actionItems) { ["description": .string($0), "completed": false] },
            "events": .array(events) {
                [
                    "title": .string($0.title), "description": .string($0.description),
                    "start": .string($0.start.apiTime), "duration": .integer($0.duration), "created": false,
                ]
            },
        ]
    }
}

extension Urgency {
    fileprivate var json: JSON {
        [
            "level": .string(level.rawValue),
            "reasons": .array(reasons) { ["segment_id": .string($0.segment), "text": .string($0.text)] },
        ]
    }
}

extension ConversationPhoto {
    fileprivate var json: JSON { Self.json(id: id, createdAt).adding(["base64": .string(base64)]) }

    /// Encodes a photo without its picture.
    static func json(id: String, _ createdAt: Date) -> JSON {
        ["id": .string(id), "description": .null, "created_at": .string(createdAt.apiTime), "discarded": false]
    }
}

extension Conversations.AddedSegments {
    var json: JSON { ["conversation_id": .string(conversation.id), "segments": .array(segments, \.json)] }
}

extension Memory {
    func json(of user: UserID) -> JSON {
        let conversation = self.conversation.map(JSON.string)
        return [
            "id": .string(id), "uid": .string(user.rawValue), "content": .string(content),
            "category": .string(category), "visibility": .string(visibility), "tags": [],
            "created_at": .string(createdAt.apiTime), "updated_at": .string(updatedAt.apiTime),
            "conversation_id": conversation.orNull, "memory_id": conversation.orNull,
            "reviewed": .bool(conversation == nil), "user_review": conversation == nil ? true : .null,
            "manually_added": .bool(conversation == nil), "edited": .bool(isEdited), "deleted": false,
            "scoring": .null,
        ]
    }
}
