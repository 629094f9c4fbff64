import Basics
import Crypto
import Foundation
import HTTPTypes
import ObjectStorage
import ScribeHTTP
import ScribeStore

/// Parses the parts that CompleteMultipartUpload names, in order.
struct PartList: Hashable, Sendable {
    struct Entry: Hashable, Sendable {
        let number: Int
        /// ETag without quotes.
        let eTag: String
        /// Checksums in base64, by the names of their elements.
        let checksums: [String: String]
    }

    let entries: [Entry]

    /// Reads `<Part><PartNumber>1</PartNumber><ETag>"…"</ETag><ChecksumCRC32>…</ChecksumCRC32></Part>…`.
    /// - Throws: ``S3Error/malformedXML``, ``S3Error/invalidPartOrder``.
    init(_ document: XMLNode?) throws(S3Error) {
        var entries: [Entry] = []
        for part in document?.children(named: "Part") ?? [] {
            guard let number = part["PartNumber"].flatMap({ Int($0.trimmingCharacters(in: .whitespacesAndNewlines)) }),
                let eTag = part["ETag"]
            else { throw .malformedXML }
            let checksums = part.children.filter { $0.name.hasPrefix("Checksum") }
            entries.append(
                Entry(
                    number: number,
                    eTag: eTag.trimmingCharacters(in: .whitespacesAndNewlines).trimmingCharacters(in: ["\""]),
                    checksums: Dictionary(checksums.map { ($0.name, $0.text) }, uniquingKeysWith: { $1 })))
        }
        guard !entries.isEmpty else { throw .malformedXML }
        guard zip(entries, entries.dropFirst()).allSatisfy({ $0.number < $1.number }) else { throw .invalidPartOrder }
        self.entries = entries
    }

    /// ETag of the joined object, without quotes.
    var eTag: String {
        let digest = Insecure.MD5.hash(data: Data(entries.flatMap { Hex.decode($0.eTag) ?? [] }))
        return "\(Hex.encode(digest))-\(entries.count)"
    }

    /// Selects the stored parts that the list names.
    /// - Throws: ``S3Error/invalidPart``, ``S3Error/invalidRequest(_:)``, ``S3Error/entityTooSmall``,
    ///   ``S3Error/entityTooLarge``.
    func select(from parts: [MultipartPart], of upload: MultipartUpload) throws(S3Error) -> [MultipartPart] {
        let byNumber = Dictionary(uniqueKeysWithValues: parts.map { ($0.number, $0) })
        var selected: [MultipartPart] = []
        for entry in entries {
            guard let part = byNumber[entry.number], part.md5 == entry.eTag.lowercased() else { throw .invalidPart }
            try entry.checkChecksum(of: part, upload)
            selected.append(part)
        }
        guard selected.dropLast().allSatisfy({ $0.size >= S3Responder.partMinimum }) else { throw .entityTooSmall }
        guard selected.total(\.size) <= S3Responder.objectLimit else { throw .entityTooLarge }
        return selected
    }
}

extension PartList.Entry {
    /// Checks the checksum that the client repeats.
    ///
    /// AWS demands one for each part of a composite checksum. CRC32 is excepted: SDKs choose it on their own, for
    /// clients that never see it.
    fileprivate func checkChecksum(of part: MultipartPart, _ upload: MultipartUpload) throws(S3Error) {
        guard let algorithm = upload.algorithm else { return }
        if let checksum = checksums[ObjectChecksum(algorithm, text: "").elementName] {
            guard checksum == part.checksum else { throw .invalidPart }
        } else if upload.isComposite, algorithm != .crc32 {
            throw .invalidRequest(
                "The upload was created using a \(algorithm.rawValue) checksum. The complete request must include the "
                    + "checksum for each part. It was missing for part \(number) in the request.")
        }
    }
}

/// Size and checksum that a client expects of a completed object.
struct WantedObject: Sendable {
    private let size: Int?
    private let type: String?
    private let checksum: (algorithm: ChecksumAlgorithm, text: String)?

    /// - Throws: ``S3Error/invalidRequest(_:)`` for malformed headers, or several checksums.
    init(_ headers: HTTPFields) throws(S3Error) {
        size = try headers.value(of: .amzObjectSize).map { text throws(S3Error) in
            guard let size = Int(text), size >= 0 else {
                throw .invalidRequest("Value for x-amz-mp-object-size header is invalid.")
            }
            return size
        }
        type = headers.value(of: .amzChecksumType)?.uppercased()
        let found = ChecksumAlgorithm.allCases.compactMap { algorithm in
            headers[algorithm.headerName].map { (algorithm, $0) }
        }
        guard found.count <= 1 else {
            throw .invalidRequest("Expecting a single x-amz-checksum- header. Multiple checksum Types are not allowed.")
        }
        checksum = found.first
    }

    /// Algorithm of the object's checksum.
    /// - Throws: ``S3Error/invalidRequest(_:)`` for another type or algorithm than the upload's.
    func algorithm(of upload: MultipartUpload) throws(S3Error) -> ChecksumAlgorithm {
        if let type, type != upload.checksumType {
            throw .invalidRequest(
                "The upload was created using the \(upload.checksumType) checksum mode. The complete request must use "
                    + "the same checksum mode.")
        }
        guard let sent = checksum?.algorithm else { return upload.checksumAlgorithm }
        guard let chosen = upload.algorithm, chosen != sent else { return sent }
        throw .invalidRequest(
            "Checksum Type mismatch occurred, expected checksum Type: \(chosen.rawValue), actual checksum Type: "
                + sent.rawValue)
    }

    /// - Throws: ``S3Error/invalidRequest(_:)``.
    func check(size actual: Int) throws(S3Error) {
        guard let size, size != actual else { return }
        throw .invalidRequest(
            "The provided 'x-amz-mp-object-size' header value \(size) does not match what was computed: \(actual)")
    }

    /// - Throws: ``S3Error/badDigest(_:)``.
    func check(_ actual: ObjectChecksum) throws(S3Error) {
        guard let (algorithm, text) = checksum, text != actual.text || algorithm != actual.algorithm else { return }
        // Some clients leave out the number of parts.
        guard algorithm == actual.algorithm, actual.isComposite, actual.text.hasPrefix("\(text)-") else {
            throw .badDigest(actual.algorithm.headerName.canonicalName)
        }
    }
}

extension MultipartUpload {
    var checksumAlgorithm: ChecksumAlgorithm { algorithm ?? S3Responder.usualAlgorithm }

    /// Type of the object's checksum, in S3's words.
    var checksumType: String { isComposite ? "COMPOSITE" : "FULL_OBJECT" }
}

extension ObjectChecksum {
    /// The checksum of the object that parts were joined to.
    init(
        _ algorithm: ChecksumAlgorithm, of upload: MultipartUpload, _ parts: [MultipartPart], _ written: WrittenObject
    ) {
        if upload.isComposite {
            self.init(algorithm, composing: parts.map { [UInt8](Data(base64Encoded: $0.checksum) ?? Data()) })
        } else {
            self.init(algorithm, written.checksums[algorithm] ?? [])
        }
    }
}
