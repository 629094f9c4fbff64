import Basics
import Foundation

/// Reads the XML of S3's requests: elements with text or with child elements.
///
/// Document types are refused, and attributes are ignored. The time is proportional to the number of bytes.
struct XMLNode: Hashable, Sendable {
    /// Name without its prefix.
    let name: String
    fileprivate(set) var text = ""
    fileprivate(set) var children: [XMLNode] = []

    fileprivate init(_ name: String) { self.name = name }

    /// Parses a document.
    /// - Parameter root: The name that its root must have.
    /// - Throws: ``S3Error/malformedXML``.
    init(_ bytes: [UInt8], root: String) throws(S3Error) {
        var reader = XMLReader(bytes)
        self = try reader.document()
        guard name == root else { throw .malformedXML }
    }

    /// Text of the first child of a name; nil without one.
    subscript(name: String) -> String? { children.first { $0.name == name }?.text }

    func children(named name: String) -> [XMLNode] { children.filter { $0.name == name } }
}

private struct XMLReader {
    /// Deepest nesting; the requests of S3 have three levels.
    private static let maxDepth = 8
    /// Most elements: 10,000 parts of a multipart upload, each with its number, ETag and checksums.
    private static let maxElements = 60_000
    /// Longest character reference, in bytes.
    private static let longestReference = 10

    private let bytes: [UInt8]
    private var position = 0
    private var elements = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    mutating func document() throws(S3Error) -> XMLNode {
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
        try skipBetweenElements()
        let root = try element(depth: 1)
        try skipBetweenElements()
        guard position == bytes.count else { throw .malformedXML }
        return root
    }

    private func isNext(_ text: StaticString) -> Bool {
        text.withUTF8Buffer { bytes[position...].starts(with: $0) }
    }

    private mutating func take(_ text: StaticString) -> Bool {
        guard isNext(text) else { return false }
        position += text.utf8CodeUnitCount
        return true
    }

    /// Skips to the end of a construct.
    private mutating func skip(past end: StaticString) throws(S3Error) {
        while position < bytes.count {
            if take(end) { return }
            position += 1
        }
        throw .malformedXML
    }

    private mutating func skipSpace() {
        while position < bytes.count, " \t\r\n".utf8.contains(bytes[position]) { position += 1 }
    }

    private mutating func skipBetweenElements() throws(S3Error) {
        while true {
            skipSpace()
            if take("<?") {
                try skip(past: "?>")
            } else if take("<!--") {
                try skip(past: "-->")
            } else {
                return
            }
        }
    }

    private mutating func name() throws(S3Error) -> String {
        let start = position
        while position < bytes.count, !" \t\r\n/>=<&".utf8.contains(bytes[position]) { position += 1 }
        guard position > start, let name = String(validating: bytes[start..<position], as: UTF8.self) else {
            throw .malformedXML
        }
        return name
    }

    private mutating func element(depth: Int) throws(S3Error) -> XMLNode {
        elements += 1
        guard depth <= Self.maxDepth, elements <= Self.maxElements, take("<") else { throw .malformedXML }
        let fullName = try name()
        var node = XMLNode(fullName.split(separator: ":").last.map(String.init) ?? fullName)
        while true {
            skipSpace()
            if take("/>") { return node }
            if take(">") { break }
            _ = try name()
            if take("=\"") {
                try skip(past: "\"")
            } else if take("='") {
                try skip(past: "'")
            } else {
                throw .malformedXML
            }
        }
        var text: [UInt8] = []
        while true {
            if take("</") {
                guard try name() == fullName else { throw .malformedXML }
                skipSpace()
                guard take(">"), let decoded = String(validating: text, as: UTF8.self) else { throw .malformedXML }
                node.text = decoded
                return node
            }
            if take("<!--") {
                try skip(past: "-->")
            } else if take("<![CDATA[") {
                let start = position
                try skip(past: "]]>")
                text += bytes[start..<position - 3]
            } else if isNext("<") {
                node.children.append(try element(depth: depth + 1))
            } else if take("&") {
                text += try reference()
            } else if position < bytes.count {
                text.append(bytes[position])
                position += 1
            } else {
                throw .malformedXML
            }
        }
    }

    /// The bytes of a character reference, whose `&` was read.
    private mutating func reference() throws(S3Error) -> [UInt8] {
        let window = bytes[position...].prefix(Self.longestReference)
        guard let end = window.firstIndex(of: UInt8(ascii: ";")) else { throw .malformedXML }
        let word = String(decoding: bytes[position..<end], as: UTF8.self)
        position = end + 1
        switch word {
        case "amp": return Array("&".utf8)
        case "lt": return Array("<".utf8)
        case "gt": return Array(">".utf8)
        case "quot": return Array("\"".utf8)
        case "apos": return Array("'".utf8)
        default:
            let digits = word.drop { $0 == "#" || $0 == "x" }
            let number = UInt32(digits, radix: word.hasPrefix("#x") ? 16 : 10)
            guard word.hasPrefix("#"), let scalar = number.flatMap(Unicode.Scalar.init), scalar.value > 0 else {
                throw .malformedXML
            }
            return Array(String(scalar).utf8)
        }
    }
}
