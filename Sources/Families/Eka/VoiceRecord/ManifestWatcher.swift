import Foundation
package import ScribeDomain
package import ScribeRuntime
package import ScribeStore

/// Starts the transaction of a manifest, which is the last of its files. One that cannot be read is a file like any other.
package struct ManifestWatcher: UploadWatcher {
    /// In bytes.
    private static let longest = 1 << 20

    private let consultations: Consultations

    package init(consultations: Consultations) { self.consultations = consultations }

    package func kept(_ object: StoredObject, by principal: Principal, uploads: Uploads) async {
        guard Manifest.startsTransaction(action: object.metadata["action"]), object.key.hasSuffix(".json"),
            let content = try? await uploads.bytes(of: object, upTo: Self.longest),
            let manifest = JSONDocument.untrusted(Data(content), as: Manifest.self)
        else { return }
        let folder = AudioLocation(bucket: object.bucket, folder: AudioLocation.split(key: object.key).folder)
        // Started before, or beyond the quota: the status says what became of it.
        _ = try? await consultations.start(manifest.transaction, manifest.request(in: folder), for: principal)
    }
}
