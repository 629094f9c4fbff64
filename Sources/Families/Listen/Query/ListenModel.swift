import Basics
import Crypto
import Foundation
import ScribeHTTP

/// Metadata of the recognition model, as shown to clients.
struct ListenModel: Hashable, Sendable {
    let name: String
    /// Derived from the name: the same model always has the same uuid.
    let uuid: String
    private let arch: String

    /// - Parameters:
    ///   - name: The requested model; nil for the default, `nova-3`.
    ///   - speaksSubQ: Whether answers follow SubQ where it differs from Deepgram.
    init(_ name: String?, speaksSubQ: Bool) {
        let name = name ?? "nova-3"
        let digest = Hex.encode(SHA256.hash(data: Data(name.utf8)))
        func part(_ from: Int, _ count: Int) -> String { String(digest.dropFirst(from).prefix(count)) }
        self.name = name
        uuid = "\(part(0, 8))-\(part(8, 4))-4\(part(12, 3))-8\(part(15, 3))-\(part(18, 12))"
        arch = speaksSubQ ? "aldea-asr" : "nova-3"
    }

    var json: JSON { ["name": .string(name), "version": "2026-01-01.0", "arch": .string(arch)] }

    /// Encodes the metadata of audio and model: a socket's last message, and part of a recording's answer.
    /// - Parameter duration: In seconds.
    func metadata(request: String, hash: SHA256Digest, createdAt: Date, duration: Double, channels: Int) -> JSON {
        [
            "transaction_key": "deprecated", "request_id": .string(request), "sha256": .string(Hex.encode(hash)),
            "created": .string(createdAt.apiTime), "duration": .number(duration), "channels": .integer(channels),
            "models": [.string(uuid)], "model_info": [uuid: json],
        ]
    }
}
