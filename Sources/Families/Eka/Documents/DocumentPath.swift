import Basics
import ScribeDomain

extension DocumentID {
    /// Path of the document in the vendor's own storage.
    ///
    /// The web SDK declares this member and reads nothing there; `presigned_url` leads to the content.
    func path(in transaction: TransactionID) -> JSON {
        ["bucket": "documents", "folder": .string(transaction.rawValue), "filename": "\(rawValue).md"]
    }
}
