import Engines
import NIOCore
import ObjectStorage
import ScribeStore

/// Audio in a stored upload.
struct StoredAudio: AudioSource {
    let file: String
    let objects: any ObjectStore

    var bytesInMemory: ByteBuffer? { objects.received?.bytes(of: file) }

    func withLocalFile<Value: Sendable>(_ body: (String) async throws -> Value) async throws -> Value {
        try await objects.withLocalFile(file, body)
    }
}
