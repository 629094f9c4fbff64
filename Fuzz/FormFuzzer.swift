import Foundation
import NIOCore

@testable import Eka
@testable import S3
@testable import ScribeHTTP

/// `multipart/form-data` bodies, and what of them decides about an upload. The first byte says into pieces of how many
/// bytes the rest is cut.
@Sendable func fuzzForm(_ data: Data) {
    guard let first = data.first else { return }
    let body = Array(data.dropFirst())
    let whole = decodeForm([body])
    let size = Int(first & 31) + 1
    let pieces = stride(from: 0, to: body.count, by: size).map { Array(body[$0..<min($0 + size, body.count)]) }
    require(decodeForm(pieces) == whole, "how a form is cut does not matter")
    for part in whole ?? [] {
        require(part.baseName.map { !$0.contains("/") && !$0.contains("\\") } ?? true, "a file's name has no folders")
        if let policy = try? PostPolicy(base64: String(decoding: part.content, as: UTF8.self)) {
            require(policy.sizes.lowerBound <= policy.sizes.upperBound, "sizes are a range")
            try? policy.check(["key": part.name], at: Date(timeIntervalSince1970: 0))
        }
    }
    // What a form holds comes out of it, whatever it is, as long as the delimiter is not in it.
    let content = body.prefix(256)
    guard !Data(content).contains(Data("--b".utf8)) else { return }
    let form =
        Array("--b\r\nContent-Disposition: form-data; name=a\r\n\r\n".utf8) + content + Array("\r\n--b--\r\n".utf8)
    require(decodeForm([form])?.map(\.content) == [Array(content)], "what was framed comes out")
}

private struct DecodedPart: Hashable {
    let name: String
    let baseName: String?
    var content: [UInt8] = []
    var isWhole = false
}

/// nil for a form that is refused.
private func decodeForm(_ pieces: [[UInt8]]) -> [DecodedPart]? {
    guard var decoder = FormDecoder(contentType: "multipart/form-data; boundary=b") else { return nil }
    var parts: [DecodedPart] = []
    do {
        for piece in pieces {
            for event in try decoder.decode(ByteBuffer(bytes: piece)) {
                switch event {
                case .part(let part): parts.append(DecodedPart(name: part.name, baseName: part.baseName))
                case .data(let data): parts[parts.count - 1].content += data.readableBytesView
                case .endOfPart: parts[parts.count - 1].isWhole = true
                }
            }
        }
        try decoder.finish()
    } catch {
        return nil
    }
    require(parts.allSatisfy(\.isWhole), "a form that has ended has ended its parts")
    return parts
}
