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

    /// Version of every model.
    static let version = "2026-01-01.0"

    /// - Parameters:
    ///   - name: The requested model; nil for the default, `nova-3`.
    ///   - speaksSubQ: Whether answers follow SubQ where it differs from Deepgram.
    init(_ name: String?, speaksSubQ: Bool) {
        self.name = name ?? "nova-3"
        uuid = UUIDText.make(from: self.name)
        arch = speaksSubQ ? "aldea-asr" : "nova-3"
    }

    var json: JSON { ["name": .string(name), "version": .string(Self.version), "arch": .string(arch)] }

    /// Encodes the metadata of audio and model: a socket's last message, and part of a recording's answer.
    /// - Parameters:
    ///   - duration: In seconds.
    ///   - extra: Pairs that the client sent.
    func metadata(
        request: String, hash: SHA256Digest, createdAt: Date, duration: Double, channels: Int,
        extra: [(key: String, value: String)]
    ) -> JSON {
        [
            "transaction_key": "deprecated", "request_id": .string(request), "sha256": .string(Hex.encode(hash)),
            "created": .string(createdAt.apiTime), "duration": .number(duration), "channels": .integer(channels),
            "models": [.string(uuid)], "model_info": [uuid: json], "extra": .extra(extra),
        ]
    }
}

extension JSON {
    /// Pairs that a client sent, in their order; nil without any.
    static func extra(_ pairs: [(key: String, value: String)]) -> JSON? {
        pairs.isEmpty ? nil : .object(pairs.map { ($0.key, .string($0.value)) })
    }
}
