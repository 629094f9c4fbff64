import ScribeDomain

/// Where a document would be in the vendor's own storage. The web SDK declares it, and nobody reads there: `presigned_url`
/// leads to what is written.
struct DocumentPath: Encodable {
    let bucket = "documents"
    let folder: TransactionID
    let filename: String

    init(_ document: DocumentID, of transaction: TransactionID) {
        folder = transaction
        filename = "\(document.rawValue).md"
    }

    func write(to text: inout JSONText) {
        text.write("{")
        text.member("bucket", string: bucket)
        text.member("folder", string: folder.rawValue)
        text.member("filename", string: filename)
        text.write("}")
    }
}
