import Basics
import Foundation
package import ScribeDomain
package import ScribeRuntime
package import ScribeStore

/// Starts a version 1 transaction when its manifest is uploaded, after its audio. A malformed manifest is a plain file.
package struct ManifestWatcher: UploadObserver {
    /// Largest manifest, in bytes.
    private static let longest = 1 << 20

    private let transactions: Transactions

    package init(transactions: Transactions) { self.transactions = transactions }

    package func kept(_ object: StoredObject, by principal: Principal, uploads: Uploads) async {
        guard Manifest.startsTransaction(action: object.headers["x-amz-meta-action"]), object.key.hasSuffix(".json"),
            let content = try? await uploads.bytes(of: object, upTo: Self.longest),
            let manifest = JSONDocument.untrusted(Data(content), as: Manifest.self)
        else { return }
        let folder = AudioLocation(bucket: object.bucket, folder: AudioLocation.split(key: object.key).folder)
        // Errors are ignored: an id already started, or a quota reached. The status poll reports both.
        _ = try? await transactions.start(manifest.transaction, manifest.request(in: folder), for: principal)
    }
}
