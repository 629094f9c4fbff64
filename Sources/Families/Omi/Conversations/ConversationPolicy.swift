import ScribeDomain

/// Rules of conversations' recordings that shared code needs: the conversation ends and removes them.
struct ConversationPolicy: RecordingPolicy {
    let kind = RecordingKind.conversation
    let title = "Omi"
    let endsByOwnAPIOnly = true
    let isRemovedByOwnAPIOnly = true
}
