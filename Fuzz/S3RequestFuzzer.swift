import Basics
import Foundation
import ScribeDomain

@testable import Eka
@testable import S3
@testable import ScribeHTTP

/// Requests to the object API as they are on the wire: where they go, how they are signed, which bytes they want, and
/// the list of parts in their body.
@Sendable func fuzzS3Request(_ data: Data) {
    let request = WireRequest(data)
    checkEscapes(request.path)
    checkSignature(request)
    checkAddress(request)
    let size = request.headers["content-length"].flatMap(Int.init) ?? 100
    if let range = request.headers["range"], size >= 0 { checkRange(range, of: size) }
    checkParts(request.body)
}

private struct WireRequest {
    var method = ""
    var path = ""
    var query = ""
    var headers: [String: String] = [:]
    var body = ""

    init(_ data: Data) {
        var lines = String(decoding: data, as: UTF8.self).split(omittingEmptySubsequences: false) { $0.isNewline }[...]
        let words = (lines.popFirst() ?? "").split(separator: " ", omittingEmptySubsequences: false)
        method = words.first.map(String.init) ?? ""
        let target = words.dropFirst().first?.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        path = target?.first.map(String.init) ?? ""
        query = target?.dropFirst().first.map(String.init) ?? ""
        while let line = lines.popFirst(), !line.isEmpty {
            let field = line.split(separator: ":", maxSplits: 1)
            if field.count == 2 { headers[field[0].lowercased()] = String(field[1].drop { $0 == " " }) }
        }
        body = lines.joined(separator: "\n")
    }

    var message: SigV4.Message {
        SigV4.Message(method: method, path: path, query: query) { [headers] in headers[$0] }
    }
}

private func checkEscapes(_ text: String) {
    for keepingSlashes in [true, false] {
        let encoded = PercentEncoding.encode(text, keepingSlashes: keepingSlashes)
        require(PercentEncoding.decode(encoded)?.hasBytes(of: text) == true, "what is encoded is decoded")
    }
}

private func checkSignature(_ request: WireRequest) {
    if let query = SigV4Query(request.query)?.canonical {
        require(SigV4Query(query)?.canonical == query, "a canonical query stays as it is")
        let turned = request.query.split(separator: "&").reversed().joined(separator: "&")
        require(SigV4Query(turned)?.canonical == query, "a query's order does not matter")
    }
    guard let signature = try? SigV4.read(from: request.message) else { return }
    let style = Date.ISO8601FormatStyle(dateSeparator: .omitted, timeSeparator: .omitted)
    require(signature.date?.formatted(style) == signature.timestamp, "the date is the one that was written")
    require(signature.timestamp.prefix(8) == signature.scope.day, "the day is the date's")

    guard let text = signature.canonicalRequest(request.message, payloadHash: "UNSIGNED-PAYLOAD") else { return }
    let lines = String(decoding: text, as: UTF8.self).split(ascii: "\n", omittingEmptySubsequences: false).map(
        String.init)
    var canonical = request
    (canonical.path, canonical.query) = (lines[1], lines[2])
    require(
        signature.canonicalRequest(canonical.message, payloadHash: "UNSIGNED-PAYLOAD") == text,
        "a canonical request stays as it is"
    )
}

private func checkAddress(_ request: WireRequest) {
    guard case .object(let object) = try? S3Address(host: request.headers["host"] ?? "", path: request.path) else {
        return
    }
    require(object.key.utf8.count <= S3Address.keyLimit && object.key.isPlain, "a key is one that S3 takes")
    let segments = object.key.utf8.split(separator: UInt8(ascii: "/"))
    let depths = segments.reduce(into: [0]) { depths, name in
        let step = name.elementsEqual("..".utf8) ? -1 : name.elementsEqual(".".utf8) ? 0 : 1
        depths.append((depths.last ?? 0) + step)
    }
    require(depths.allSatisfy { $0 >= 0 }, "no key leads out of its bucket")
    let path = "/\(object.bucket)/\(PercentEncoding.encode(object.key, keepingSlashes: true))"
    guard case .object(let same) = try? S3Address(host: "localhost", path: path) else {
        fatalError("does not hold: what is addressed by host is addressed by path")
    }
    require(same.bucket.hasBytes(of: object.bucket) && same.key.hasBytes(of: object.key), "and is the same object")
}

private func checkRange(_ text: String, of size: Int) {
    guard let range = try? ByteRange(text, of: size)?.bytes else { return }
    require(range.lowerBound >= 0 && range.upperBound < size, "a range lies within its object")
    require(text.utf8.dropFirst("bytes=".utf8.count).allSatisfy { "0123456789-".utf8.contains($0) }, "it is of digits")
}

private func checkParts(_ xml: String) {
    guard let list = try? PartList(xml: xml) else { return }
    require(zip(list.entries, list.entries.dropFirst()).allSatisfy { $0.number < $1.number }, "parts are in order")
    // Written as SDKs do. Tags that are no hashes are found in no upload.
    let parts = list.entries.filter { Hex.decode($0.eTag) != nil }
    guard !parts.isEmpty else { return }
    let written = parts.map {
        "<Part><ETag>&quot;\($0.eTag)&quot;</ETag><PartNumber>\($0.number)</PartNumber></Part>"
    }
    let xml = "<CompleteMultipartUpload>\(written.joined())</CompleteMultipartUpload>"
    let read = (try? PartList(xml: xml))?.entries ?? []
    require(read.map(\.number) == parts.map(\.number), "what is written is read")
    require(read.map(\.eTag) == parts.map(\.eTag), "and its tags")
}

extension PartList {
    init(xml: String) throws {
        try self.init(XMLNode(Array(xml.utf8), root: "CompleteMultipartUpload"))
    }
}
