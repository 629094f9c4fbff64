import Engines
import ObjectStorage
import ScribeStore

/// Audio in a stored upload.
struct StoredAudio: AudioSource {
    let file: String
    let objects: any ObjectStore

    func withLocalFile<Value: Sendable>(_ body: (String) async throws -> Value) async throws -> Value {
        try await objects.withLocalFile(file, body)
    }
}
