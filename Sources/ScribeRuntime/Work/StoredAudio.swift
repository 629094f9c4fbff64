import Engines
import ScribeStore

/// The bytes of an upload, as a recogniser gets them.
struct StoredAudio: AudioSource {
    let file: String
    let objects: any ObjectStore

    func withLocalFile<Value: Sendable>(_ body: (String) async throws -> Value) async throws -> Value {
        try await objects.withLocalFile(file, body)
    }
}
