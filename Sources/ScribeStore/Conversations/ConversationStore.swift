/// Conversations of a wearable, with their segments and photos, and memories.
package struct ConversationStore: StorePart {
    let store: Store
}
