import ScribeDomain

extension DocumentID {
    /// Where the document would be in the vendor's own storage. The web SDK declares it and reads nothing there:
    /// `presigned_url` leads to the content.
    func path(in transaction: TransactionID) -> JSON {
        ["bucket": "documents", "folder": .string(transaction.rawValue), "filename": "\(rawValue).md"]
    }
}
