/// Values behind the names of credentials, in each format.
extension SecretMask {
    /// Masks the value behind a name: `"name": "…"`, `name=…`, `<name>…<`, `name: …`, or a form's part.
    mutating func maskValue() {
        var next = end(from: place) { $0 == UInt8(ascii: "\\") }
        if next < bytes.count, [UInt8(ascii: "\""), UInt8(ascii: "'")].contains(bytes[next]) { next += 1 }
        if next < bytes.count, bytes[next] == UInt8(ascii: "[") {
            // An index, as in `token[0]=`. Its length is limited: many brackets would be searched to the end each.
            if let close = bytes[next...].prefix(Self.longestIndex).firstIndex(of: UInt8(ascii: "]")) {
                next = close + 1
            }
        }
        let isPart = bytes[next...].starts(with: Array("\r\n\r\n".utf8))
        next = end(from: next, Self.isSpace)
        guard next < bytes.count else { return }
        if isPart {
            copy(upTo: next)
            return mask(upTo: end(from: place) { $0 != UInt8(ascii: "\r") && $0 != UInt8(ascii: "\n") })
        }
        // A colon too: the query's `extra` has pairs of a name and a value.
        let isEscaped = ["%3d", "%3a"].contains(String(decoding: bytes[next...].prefix(3), as: UTF8.self).lowercased())
        switch isEscaped ? UInt8(ascii: "=") : bytes[next] {
        case UInt8(ascii: "="):
            copy(upTo: next + (isEscaped ? 3 : 1))
            if !maskQuoted() {
                mask(upTo: end(from: place) { !Self.isSpace($0) && !"&\"<>\\".utf8.contains($0) })
            }
        case UInt8(ascii: ">"):
            copy(upTo: next + 1)
            maskElement()
        case UInt8(ascii: ":"):
            copy(upTo: end(from: next + 1, Self.isSpace))
            maskJSON()
        default: break
        }
    }

    /// Masks the text of an XML element, with its sections of CDATA.
    mutating func maskElement() {
        let open = Array("<![CDATA[".utf8)
        while true {
            mask(upTo: end(from: place) { $0 != UInt8(ascii: "<") })
            guard bytes[place...].starts(with: open) else { return }
            copy(upTo: place + open.count)
            mask(upTo: bytes[place...].firstRange(of: Array("]]>".utf8))?.lowerBound ?? bytes.count)
            copy(upTo: min(place + 3, bytes.count))
        }
    }

    /// Masks a string, all that a list or an object has, or the rest of a line that is no JSON.
    mutating func maskJSON() {
        guard place < bytes.count, !maskQuoted() else { return }
        switch bytes[place] {
        case UInt8(ascii: "["), UInt8(ascii: "{"):
            var depth = 0
            repeat {
                if maskQuoted() { continue }
                switch bytes[place] {
                case UInt8(ascii: "["), UInt8(ascii: "{"): depth += 1
                case UInt8(ascii: "]"), UInt8(ascii: "}"): depth -= 1
                default:
                    guard Self.isWord(bytes[place]) else { break }
                    // Quoted, so that the text stays JSON.
                    out.append(UInt8(ascii: "\""))
                    mask(upTo: end(from: place, Self.isWord))
                    out.append(UInt8(ascii: "\""))
                    continue
                }
                copy(upTo: max(place + 1, end(from: place) { $0 == UInt8(ascii: "\\") }))
            } while depth > 0 && place < bytes.count
        default:
            let word = bytes[place..<end(from: place, Self.isWord)]
            guard !["null", "true", "false"].contains(String(decoding: word.prefix(8), as: UTF8.self)) else { return }
            let isMember = out.last { !Self.isSpace($0) && $0 != UInt8(ascii: ":") } == UInt8(ascii: "\"")
            if isMember { out.append(UInt8(ascii: "\"")) }
            mask(upTo: end(from: place) { !"\r\n,}]\"\\".utf8.contains($0) })
            if isMember { out.append(UInt8(ascii: "\"")) }
        }
    }

    /// Masks a quoted text. Its quotes may be escaped, as in JSON within JSON.
    mutating func maskQuoted() -> Bool {
        let open = end(from: place) { $0 == UInt8(ascii: "\\") }
        guard open < bytes.count, bytes[open] == UInt8(ascii: "\"") || bytes[open] == UInt8(ascii: "'") else {
            return false
        }
        let (quote, escapes) = (bytes[open], open - place)
        copy(upTo: open + 1)
        var (end, slashes) = (place, 0)
        // A quote of an inner text has more backslashes, and its backslashes are escaped as often as its quotes.
        while end < bytes.count,
            !(bytes[end] == quote && (slashes < escapes || slashes % (2 * (escapes + 1)) == escapes))
        {
            slashes = bytes[end] == UInt8(ascii: "\\") ? slashes + 1 : 0
            end += 1
        }
        guard end < bytes.count else {
            mask(upTo: end)
            return true
        }
        mask(upTo: max(place, end - escapes))
        copy(upTo: end + 1)
        return true
    }

    static func isSpace(_ byte: UInt8) -> Bool { byte == 32 || (9...13).contains(byte) }

    mutating func copy(upTo end: Int) {
        out += bytes[place..<end]
        place = end
    }

    mutating func mask(upTo end: Int) {
        if end > place { out += Self.maskBytes }
        place = end
    }
}
