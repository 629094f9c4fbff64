import Basics
import ScribeDomain

/// Encodes the events that a device's WebSocket sends, other than segments (streaming.md 4.4).
///
/// A memory in these events is a conversation, under Omi's older name.
enum OmiEvent {
    static func status(_ status: String, _ text: String) -> JSON {
        ["type": "service_status", "status": .string(status), "status_text": .string(text)]
    }

    static func lastMemory(_ id: String) -> JSON { ["type": "last_memory", "memory_id": .string(id)] }

    static func session(_ id: String) -> JSON { ["type": "conversation_session", "conversation_id": .string(id)] }

    static func processingStarted(_ conversation: JSON) -> JSON {
        ["type": "memory_processing_started", "memory": conversation, "messages": []]
    }

    static func memoryCreated(_ conversation: JSON) -> JSON {
        ["type": "memory_created", "memory": conversation, "messages": []]
    }

    static func speakerSuggestion(speaker: Int, name: String, segment: String) -> JSON {
        [
            "type": "speaker_label_suggestion", "speaker_id": .integer(speaker), "person_id": "",
            "person_name": .string(name), "segment_id": .string(segment),
        ]
    }

    /// - Parameter temporary: The device's own id of the picture.
    static func photoProcessing(temporary: String, photo: String) -> JSON {
        ["type": "photo_processing", "temp_id": .string(temporary), "photo_id": .string(photo)]
    }

    static func photoDescribed(_ id: String) -> JSON {
        ["type": "photo_described", "photo_id": .string(id), "description": "", "discarded": false]
    }

    static func urgencyDetected(_ level: Urgency.Level, segments: [String]) -> JSON {
        [
            "type": "urgency_detected", "level": .string(level.rawValue),
            "segment_ids": .array(segments, JSON.string),
        ]
    }
}
