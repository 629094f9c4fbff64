import ScribeDomain

/// Uploads in the folder of a transaction, within a SQL transaction.
extension AudioStore {
    static func names(
        in location: AudioLocation, business: BusinessID, upTo limit: Int = 1000, _ db: any StoreSession
    ) throws -> [String] {
        try db.rows(
            "SELECT key FROM objects WHERE business_id = ? AND bucket = ? AND key > ? ORDER BY key LIMIT ?",
            [business.rawValue, location.bucket, location.key(ofFile: ""), limit]
        ).lazy.map { location.name(ofKey: $0["key"]) }.prefix { $0 != nil }.compactMap(\.self)
    }

    /// File and ETag of an upload. Other bytes have another ETag.
    typealias Upload = (file: String, eTag: String)

    /// Upload with a file name; nil without one.
    static func upload(of name: String, in transaction: Transaction, _ db: any StoreSession) throws -> Upload? {
        guard let location = transaction.request.audioLocation else { return nil }
        return try db.row(
            "SELECT file, etag FROM objects WHERE business_id = ? AND bucket = ? AND key = ?",
            [transaction.key.business.rawValue, location.bucket, location.key(ofFile: name)]
        ).map { ($0["file"], $0["etag"]) }
    }

    /// Uploads of a transaction's committed files, by file name.
    static func uploads(of transaction: Transaction, _ db: any StoreSession) throws -> [String: Upload] {
        let names = transaction.orderedFiles
        guard let location = transaction.request.audioLocation, !names.isEmpty else { return [:] }
        let rows = try db.rows(
            "SELECT key, file, etag FROM objects WHERE business_id = ? AND bucket = ? AND key \(db.isAmong(3))",
            [
                transaction.key.business.rawValue, location.bucket,
                try StoredJSON.text(names.map(location.key(ofFile:))),
            ])
        let uploads = Dictionary(rows.map { ($0["key"] as String, ($0["file"], $0["etag"]) as Upload) }) { $1 }
        return Dictionary(
            names.compactMap { name in uploads[location.key(ofFile: name)].map { (name, $0) } }
        ) { $1 }
    }
}
