import ScribeDomain

/// A part of the data. A write names each part that it reads before it decides: two writes that name the same part
/// exclude each other.
///
/// SQLite has one writer and needs no scopes. On a database with many writers they are the first locks that a write
/// takes, in one order for all writes. `docs/writes.md` lists every write with its scopes. The bytes that a business
/// stores are in no scope: two writes at once may pass the storage quota together.
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
    /// The clients that may log in, and their logins.
    case clients
    /// The logins on devices without a form.
    case deviceLogins
    /// Nothing: each statement decides by itself, or inserts a row that no other write looks for.
    case none

    static func user(_ principal: Principal) -> Self { .user(principal.business, principal.user) }

    /// The transaction that a delivery is about; ``none`` for a message to an address that a request named.
    static func subject(of delivery: Delivery) -> Self {
        guard case .event(_, let session, _, let webhook) = delivery.content else { return .none }
        return .transaction(Transaction.Key(business: webhook.business, id: session))
    }
}
