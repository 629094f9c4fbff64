import Crypto
import Foundation
import ScribeDomain

/// What is said of the model that has listened.
struct ListenModel: Hashable, Encodable, Sendable {
    let name: String
    let version = "2026-01-01.0"
    let arch: String

    /// - Parameter name: that was asked for, if any.
    init(_ name: String?, speaksSubQ: Bool) {
        arch = speaksSubQ ? "aldea-asr" : "nova-3"
        self.name = name ?? "nova-3"
    }

    /// The same for the same model.
    var uuid: String {
        let digest = Hex.encode(SHA256.hash(data: Data(name.utf8)))
        func part(_ from: Int, _ count: Int) -> String { String(digest.dropFirst(from).prefix(count)) }
        return "\(part(0, 8))-\(part(8, 4))-4\(part(12, 3))-8\(part(15, 3))-\(part(18, 12))"
    }
}
