import Basics
package import NIOCore

/// Decodes a `multipart/form-data` body as it arrives (RFC 7578), across arbitrary buffer boundaries.
///
/// Lenient for real clients: .NET sends names without quotes, a quoted boundary, and a content type for each text
/// (C-65).
package struct FormDecoder {
    /// Pieces of a form, in order.
    package enum Event: Hashable, Sendable {
        case part(FormPart)
        case data(ByteBuffer)
        case endOfPart
    }

    /// The body is no complete form.
    package struct Malformed: Error {}

    private enum State {
        case preamble
        case afterDelimiter
        case headers
        case content
        case epilogue
    }

    /// Largest headers of one part, in bytes.
    private static let headerLimit = 8192
    /// Most parts of a form; no known client sends more than twenty.
    private static let partLimit = 100

    /// Boundary with the line end before it.
    private let delimiter: [UInt8]
    private var state = State.preamble
    private var pending: ByteBuffer
    private var partCount = 0

    /// - Parameter contentType: The request's content type.
    /// - Returns: nil for another type, or without a boundary.
    package init?(contentType: String) {
        let value = ParameterisedValue(contentType)
        guard value.word.lowercased() == "multipart/form-data", let boundary = value["boundary"],
            (1...200).contains(boundary.utf8.count)
        else { return nil }
        delimiter = Array("\r\n--\(boundary)".utf8)
        // The first delimiter may start the body, without a line end before it.
        pending = ByteBuffer(string: "\r\n")
    }

    /// Decodes the next bytes of a form's body.
    /// - Throws: ``Malformed``.
    package mutating func decode(_ buffer: ByteBuffer) throws(Malformed) -> [Event] {
        var buffer = buffer
        pending.writeBuffer(&buffer)
        var events: [Event] = []
        while try step(&events) {}
        pending.discardReadBytes()
        return events
    }

    /// Ends a form's body.
    /// - Throws: ``Malformed`` if the form is incomplete.
    package func finish() throws(Malformed) {
        guard case .epilogue = state else { throw Malformed() }
    }

    /// Decodes one piece.
    /// - Returns: Whether the present bytes may hold another piece.
    private mutating func step(_ events: inout [Event]) throws(Malformed) -> Bool {
        switch state {
        case .preamble:
            guard let position = find(delimiter) else {
                keepTail()
                return false
            }
            pending.moveReaderIndex(forwardBy: position + delimiter.count)
            state = .afterDelimiter
            return true
        case .afterDelimiter:
            return try takeDelimiterEnd()
        case .headers:
            guard let part = try takeHeaders() else { return false }
            events.append(.part(part))
            state = .content
            return true
        case .content:
            if let position = find(delimiter) {
                if position > 0, let piece = pending.readSlice(length: position) { events.append(.data(piece)) }
                pending.moveReaderIndex(forwardBy: delimiter.count)
                events.append(.endOfPart)
                state = .afterDelimiter
                return true
            }
            let safe = pending.readableBytes - (delimiter.count - 1)
            if safe > 0, let piece = pending.readSlice(length: safe) { events.append(.data(piece)) }
            return false
        case .epilogue:
            pending.clear()
            return false
        }
    }

    /// Decodes the end of a delimiter: `--` ends the form, a line end begins a part. Spaces between are allowed.
    private mutating func takeDelimiterEnd() throws(Malformed) -> Bool {
        while let byte = pending.getInteger(at: pending.readerIndex, as: UInt8.self), byte == 0x20 || byte == 0x09 {
            pending.moveReaderIndex(forwardBy: 1)
        }
        guard let first = pending.getInteger(at: pending.readerIndex, as: UInt8.self),
            let second = pending.getInteger(at: pending.readerIndex + 1, as: UInt8.self)
        else { return false }
        pending.moveReaderIndex(forwardBy: 2)
        switch (first, second) {
        case (UInt8(ascii: "-"), UInt8(ascii: "-")): state = .epilogue
        case (0x0D, 0x0A): state = .headers
        default: throw Malformed()
        }
        return true
    }

    private mutating func takeHeaders() throws(Malformed) -> FormPart? {
        // A part without headers begins with the empty line.
        if pending.readableBytes >= 2, starts(with: [0x0D, 0x0A]) { throw Malformed() }
        guard let end = find([0x0D, 0x0A, 0x0D, 0x0A]) else {
            guard pending.readableBytes <= Self.headerLimit else { throw Malformed() }
            return nil
        }
        guard end <= Self.headerLimit, let bytes = pending.readBytes(length: end),
            !CombiningMarks.areTooMany(in: bytes), let text = String(validating: bytes, as: UTF8.self)
        else { throw Malformed() }
        pending.moveReaderIndex(forwardBy: 4)
        partCount += 1
        guard partCount <= Self.partLimit, let part = FormPart(headers: text) else { throw Malformed() }
        return part
    }

    private func starts(with bytes: [UInt8]) -> Bool {
        pending.getBytes(at: pending.readerIndex, length: bytes.count) == bytes
    }

    /// Keeps bytes that may begin a delimiter.
    private mutating func keepTail() {
        let surplus = pending.readableBytes - (delimiter.count - 1)
        if surplus > 0 { pending.moveReaderIndex(forwardBy: surplus) }
    }

    /// Offset of the first occurrence. All patterns begin with a carriage return, which is rare in audio.
    private func find(_ bytes: [UInt8]) -> Int? {
        pending.withUnsafeReadableBytes { haystack in
            guard let base = haystack.baseAddress else { return nil }
            var offset = 0
            while haystack.count - offset >= bytes.count {
                let searched = haystack.count - offset - bytes.count + 1
                guard let found = memchr(base + offset, Int32(bytes[0]), searched) else { return nil }
                offset = UnsafeRawPointer(found) - base
                if memcmp(base + offset, bytes, bytes.count) == 0 { return offset }
                offset += 1
            }
            return nil
        }
    }
}

/// Parses the headers of a form's part.
package struct FormPart: Hashable, Sendable {
    package let name: String
    /// File name; nil for a part that is no file.
    package let fileName: String?
    package let contentType: String?

    /// - Parameter headers: Header lines without the empty line after them.
    /// - Returns: nil for headers that name no form field.
    package init?(headers: String) {
        var disposition: ParameterisedValue?
        var contentType: String?
        // In Swift a carriage return and line feed are one character.
        for line in headers.split(separator: "\r\n") {
            let parts = line.split(separator: ":", maxSplits: 1)
            guard parts.count == 2 else { return nil }
            let value = parts[1].drop { $0 == " " || $0 == "\t" }
            switch parts[0].lowercased() {
            case "content-disposition": disposition = ParameterisedValue(String(value))
            case "content-type": contentType = String(value)
            default: break
            }
        }
        guard let disposition, disposition.word.lowercased() == "form-data", let name = disposition["name"] else {
            return nil
        }
        self.name = name
        self.contentType = contentType
        let encoded = disposition["filename*"].flatMap { value in
            // RFC 5987: charset'language'escaped; only UTF-8 is in use.
            let parts = value.split(separator: "'", maxSplits: 2, omittingEmptySubsequences: false)
            return parts.count == 3 && parts[0].lowercased() == "utf-8" ? PercentEncoding.decode(parts[2]) : nil
        }
        fileName = encoded ?? disposition["filename"]
    }

    /// The file name without folders, which some browsers send.
    package var baseName: String? {
        fileName.map { name in name.split(whereSeparator: { $0 == "/" || $0 == "\\" }).last.map(String.init) ?? "" }
    }
}

/// Parses a header value with parameters: `form-data; name="key"; filename=a.m4a`.
package struct ParameterisedValue {
    package let word: String
    private var parameters: [String: String] = [:]

    package init(_ text: String) {
        var rest = text[...]
        word = String(rest.prefix { $0 != ";" }).trimmed
        rest = rest.drop { $0 != ";" }
        while rest.first == ";" {
            rest = rest.dropFirst().drop { $0 == " " || $0 == "\t" }
            let name = String(rest.prefix { $0 != "=" && $0 != ";" }).trimmed.lowercased()
            rest = rest.drop { $0 != "=" && $0 != ";" }
            guard rest.first == "=" else { continue }
            rest = rest.dropFirst()
            let value = Self.takeValue(&rest)
            if parameters[name] == nil { parameters[name] = value }
        }
    }

    package subscript(name: String) -> String? { parameters[name] }

    private static func takeValue(_ rest: inout Substring) -> String {
        guard rest.first == "\"" else {
            defer { rest = rest.drop { $0 != ";" } }
            return String(rest.prefix { $0 != ";" }).trimmed
        }
        rest = rest.dropFirst()
        var value = ""
        while let character = rest.popFirst(), character != "\"" {
            // Only quotes and backslashes are escaped; a Windows path has bare backslashes.
            if character == "\\", let next = rest.first, next == "\"" || next == "\\" {
                value.append(next)
                rest = rest.dropFirst()
            } else {
                value.append(character)
            }
        }
        rest = rest.drop { $0 != ";" }
        return value
    }
}

extension String {
    /// Trims by bytes: finding the last character is slow.
    fileprivate var trimmed: String {
        func isSpace(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
        guard let first = utf8.firstIndex(where: { !isSpace($0) }), let last = utf8.lastIndex(where: { !isSpace($0) })
        else { return "" }
        return String(self[first...last])
    }
}
