import ScribeDomain

/// Scope of a write: a part of the data that the write reads before it decides. Two writes with a common scope exclude
/// each other.
///
/// SQLite has one writer and needs no scopes. On a database with many writers they are the first locks that a write
/// takes, in one order for all writes. `Tests/ScribeStoreTests/Database/writes.txt` lists every write with its scopes.
/// The stored bytes of a business have no scope: two concurrent writes may exceed the storage quota together.
enum WriteScope: Hashable, Sendable {
    /// A transaction with its documents, jobs and audio files, and the deliveries about it.
    case transaction(Transaction.Key)
    /// The transactions whose audio is in the folder of an object, and the object itself.
    case folder(BusinessID, bucket: String, key: String)
    /// The transaction that a document belongs to.
    case document(DocumentID)
    /// A device's conversation with its segments and pictures.
    case conversation(String)
    /// The list of a user's conversations, and the user's memories.
    case user(BusinessID, UserID)
    /// The transactions of a client, as its limits count them.
    case client(ClientID)
    /// The deliveries of a lane.
    case lane(String)
    /// The deliveries of all lanes.
    case deliveries
    /// The templates, sections, preferences and registrations of a business.
    case business(BusinessID)
    /// The clinicians of a partner.
    case partner(String)
    /// The registered clients and their logins.
    case clients
    /// The logins on devices without a form.
    case deviceLogins
    /// No scope: each statement decides by itself, or inserts a row that no other write reads.
    case none

    static func user(_ principal: Principal) -> Self { .user(principal.business, principal.user) }

    /// Scope of a delivery's transaction; ``none`` for a callback to an address from a request.
    static func subject(of delivery: Delivery) -> Self {
        guard case .event(_, let session, _, let webhook) = delivery.content else { return .none }
        return .transaction(Transaction.Key(business: webhook.business, id: session))
    }
}
