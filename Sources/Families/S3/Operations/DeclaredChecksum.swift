import Basics
import Foundation
import HTTPTypes
import ObjectStorage
import ScribeHTTP

/// Checksum that a client declares for a body: its value in a header, or the trailer that will have it.
///
/// Presigned queries of the JavaScript SDK name a checksum of no bytes, since the SDK signs before it knows the body.
/// S3 ignores it, so only headers are read.
struct DeclaredChecksum: Hashable, Sendable {
    let algorithm: ChecksumAlgorithm
    /// In network byte order; nil if a trailer will have it.
    let value: [UInt8]?

    private static let prefix = "x-amz-checksum-"
    /// Algorithms of S3 that are not computed here.
    private static let others: Set = ["xxhash64", "xxhash3", "xxhash128"]

    /// Reads the headers of an upload; nil if they declare no checksum.
    /// - Throws: ``S3Error/invalidRequest(_:)`` for several checksums, or a malformed one;
    ///   ``S3Error/notImplemented(_:)``.
    init?(_ headers: HTTPFields) throws(S3Error) {
        let named = try headers.value(of: .amzSDKChecksumAlgorithm).map { word throws(S3Error) in
            guard let algorithm = try Self.algorithm(word) else {
                throw .invalidRequest("Value for x-amz-sdk-checksum-algorithm header is invalid.")
            }
            return algorithm
        }
        var found: [(word: String, value: String?)] = []
        for field in headers where field.name.canonicalName.hasPrefix(Self.prefix) {
            let word = String(field.name.canonicalName.dropFirst(Self.prefix.count))
            // Others say how to compute or show one.
            if !["algorithm", "mode", "type"].contains(word) { found.append((word, field.value)) }
        }
        for list in headers[values: .amzTrailer] {
            for name in list.lowercased().split(separator: ",") {
                let name = name.trimmingCharacters(in: .whitespaces)
                guard name.hasPrefix(Self.prefix) else { continue }
                found.append((String(name.dropFirst(Self.prefix.count)), nil))
            }
        }
        guard found.count <= 1 else {
            throw .invalidRequest(
                "Expecting a single x-amz-checksum- header. Multiple checksum Types are not allowed.")
        }
        guard let (word, text) = found.first else {
            guard named == nil || headers.contains(.contentMD5) else {
                throw .invalidRequest(
                    "x-amz-sdk-checksum-algorithm specified, but no corresponding x-amz-checksum-* or x-amz-trailer "
                        + "headers were found.")
            }
            return nil
        }
        guard let algorithm = try Self.algorithm(word) else {
            throw .invalidRequest("The checksum \(Self.prefix)\(word.prefix(40)) is not one of S3's.")
        }
        guard named == nil || named == algorithm else {
            throw .invalidRequest("Value for x-amz-sdk-checksum-algorithm header is invalid.")
        }
        self.algorithm = algorithm
        value = try text.map { text throws(S3Error) in try Self.value(text, of: algorithm) }
    }

    /// Algorithm by its name, in any case; nil for an unknown name.
    /// - Throws: ``S3Error/notImplemented(_:)`` for one that S3 has and this server has not.
    static func algorithm(_ word: String) throws(S3Error) -> ChecksumAlgorithm? {
        let word = word.lowercased()
        if others.contains(word) {
            throw .notImplemented("The checksum algorithm \(word.uppercased()) is not implemented.")
        }
        return ChecksumAlgorithm(rawValue: word)
    }

    /// Decodes a value.
    /// - Throws: ``S3Error/invalidRequest(_:)``.
    static func value(_ text: String, of algorithm: ChecksumAlgorithm) throws(S3Error) -> [UInt8] {
        guard let bytes = Data(base64Encoded: text), bytes.count == algorithm.size else {
            throw .invalidRequest("Value for \(algorithm.headerName.canonicalName) header is invalid.")
        }
        return [UInt8](bytes)
    }
}

extension ChecksumAlgorithm {
    var headerName: HTTPField.Name { .named("x-amz-checksum-\(rawValue)") }
}

extension ObjectChecksum {
    /// Type of the checksum, in S3's words: of the whole object, or composed.
    var type: String { isComposite ? "COMPOSITE" : "FULL_OBJECT" }

    /// Name of the checksum in S3's XML.
    var elementName: String { "Checksum\(algorithm.rawValue.uppercased())" }

    /// The headers that give it back.
    var fields: HTTPFields { [algorithm.headerName: text, .amzChecksumType: type] }
}
