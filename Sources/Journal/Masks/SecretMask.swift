import Basics
package import HTTPTypes
import ScribeDomain

/// Replaces tokens, secrets and signatures by `***` wherever the journal shows a text: a header, a path with its
/// query, JSON, XML, a form, or a part of one of them.
///
/// A value is found by its name; a signed token, a namespace's credential and any other secret of this server by their
/// form. Long base64 is replaced by
/// its length, unless it is a text without credentials, such as a note: it is a sound or a picture.
package struct SecretMask {
    /// Mark in place of a credential.
    package static let mark = "***"

    static let maskBytes = Array(mark.utf8)
    /// Ends of the names of credentials, in lower case and without `-` and `_`.
    private static let nameEnds = [
        "token", "secret", "signature", "password", "apikey", "jwt", "ticket", "credential", "authorization",
        "cookie", "secretkey", "accesskey", "devicecode", "usercode", "codeverifier", "passwd", "secrets",
        "signature256", "subscriptionkey", "signingkey", "sharingkey", "sharedkey", "privatekey", "encryptionkey",
        "devicekey", "clientkey",
    ].map { Array($0.utf8) }
    private static let names = ["auth", "xauth", "xkey", "xsession", "authentication", "sess", "refresh"].map {
        Array($0.utf8)
    }
    /// Names of members for sounds and pictures, whose parts may be short.
    private static let dataNames = ["data", "audio", "image", "base64"].map { Array($0.utf8) }
    /// Length from which base64 is a sound or a picture, in bytes: of any text, and of such a member.
    private static let longBase64 = 400
    private static let shortBase64 = 24
    /// Longest index behind a form's name, in bytes.
    static let longestIndex = 16
    /// Shortest line of wrapped base64.
    private static let wrappedLine = 60

    /// Most backslashes of one escape.
    private static let maxBackslashes = 8

    let bytes: [UInt8]
    var out: [UInt8] = []
    var place = 0
    /// End of the last run of base64 that was measured.
    private var measured = 0

    private init(_ bytes: [UInt8]) {
        self.bytes = bytes
        out.reserveCapacity(bytes.count)
    }

    /// The text without its credentials. Takes time in proportion to its length.
    package static func text(_ bytes: some Sequence<UInt8>) -> String {
        var mask = SecretMask(Array(bytes))
        mask.run()
        return String(decoding: mask.out, as: UTF8.self)
    }

    package static func text(_ text: String) -> String { self.text(text.utf8) }

    /// The value of a header field without its credentials.
    package static func value(of field: HTTPField) -> String {
        let name = field.name.canonicalName
        if name == "sec-websocket-protocol" {
            // A client sends its key as one of the protocols, in this field or in a second one.
            return field.value.split(separator: ",")
                .map { ["token", "bearer"].contains($0.trimmed.lowercased()) ? $0.trimmed : mark }
                .joined(separator: ", ")
        }
        let isKey = name.hasSuffix("key") && !publicKeys.contains(name)
        guard isKey || isCredential(name.utf8) else { return text(field.value) }
        guard name.hasSuffix("authorization"), let space = field.value.firstIndex(of: " ") else { return mark }
        let scheme = field.value[..<space]
        return schemes.contains(scheme.lowercased()) ? "\(scheme) \(mark)" : mark
    }

    /// Header fields that are named like a key, and are none.
    private static let publicKeys: Set = ["sec-websocket-key", "idempotency-key", "x-idempotency-key"]
    private static let schemes = ["bearer", "basic", "token", "digest", "aws4-hmac-sha256"]

    /// Whether a name is that of a credential.
    package static func isCredential(_ name: some Sequence<UInt8>) -> Bool {
        var plain: [UInt8] = []
        for byte in name where byte != UInt8(ascii: "-") && byte != UInt8(ascii: "_") {
            plain.append((UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte)
        }
        return names.contains(plain) || nameEnds.contains { end in plain.suffix(end.count).elementsEqual(end) }
    }

    private mutating func run() {
        while place < bytes.count {
            guard Self.isWord(bytes[place]) || escapedLetter(at: place) != nil else {
                if bytes[place] == UInt8(ascii: "%"), maskEscapedUser() { continue }
                out.append(bytes[place])
                place += 1
                if bytes[place - 1] == UInt8(ascii: "/") { maskUser() }
                continue
            }
            if skipBase64(from: Self.longBase64) { continue }
            let (end, word) = word()
            if isSignedToken(word, end) {
                out += Self.maskBytes
                place = self.end(from: end) { Self.isWord($0) || $0 == UInt8(ascii: ".") }
                continue
            }
            if NamespaceName(markedIn: String(decoding: word.prefix(128), as: UTF8.self)) != nil {
                mask(upTo: end)
                continue
            }
            if let secret = IssuedSecret.firstRange(in: word) {
                // Escapes move the places in the word away from those in the text.
                let isPlain = end == word.endIndex
                copy(upTo: isPlain ? secret.lowerBound : place)
                mask(upTo: isPlain ? secret.upperBound : end)
                continue
            }
            copy(upTo: end)
            guard word.count <= 64 else { continue }
            if Self.isCredential(word) {
                maskValue()
            } else if Self.dataNames.contains(where: { word.suffix($0.count).elementsEqual($0) }) {
                maskData()
            }
        }
    }

    /// Masks the user name and password in a URL, once its `://` was copied.
    private mutating func maskUser() {
        guard out.suffix(3).elementsEqual("://".utf8) else { return }
        let end = self.end(from: place) { Self.isWord($0) || ":.%~!$&()*+=".utf8.contains($0) }
        guard end < bytes.count, bytes[end] == UInt8(ascii: "@"), end - place <= 1024 else { return }
        mask(upTo: end)
    }

    /// Masks the user name and password in a URL that is a parameter of a query, `https%3A%2F%2Fuser%3Apass%40host`.
    private mutating func maskEscapedUser() -> Bool {
        func isNext(_ escape: String, at place: Int) -> Bool {
            String(decoding: bytes[place...].prefix(escape.utf8.count), as: UTF8.self).uppercased() == escape
        }
        guard isNext("%2F%2F", at: place),
            [":", "%3A", "%3a"].contains(where: { out.suffix($0.utf8.count).elementsEqual($0.utf8) })
        else { return false }
        copy(upTo: place + 6)
        var end = place
        while end < bytes.count, end - place <= 1024, Self.isWord(bytes[end]) || ".%~!$()*+".utf8.contains(bytes[end]) {
            if bytes[end] == UInt8(ascii: "%") {
                if isNext("%40", at: end) {
                    mask(upTo: end)
                    break
                }
                if ["%2F", "%3F", "%23"].contains(where: { isNext($0, at: end) }) { break }
            }
            end += 1
        }
        return true
    }

    /// Replaces a short part of a sound or picture behind its name.
    private mutating func maskData() {
        var next = end(from: place) { $0 == UInt8(ascii: "\\") }
        guard next < bytes.count, bytes[next] == UInt8(ascii: "\"") else { return }
        next = end(from: next + 1) { Self.isSpace($0) || $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: "\\") }
        guard next < bytes.count, bytes[next] == UInt8(ascii: "\"") else { return }
        copy(upTo: next + 1)
        _ = skipBase64(from: Self.shortBase64)
    }

    func end(from start: Int, _ belongs: (UInt8) -> Bool) -> Int {
        var end = start
        while end < bytes.count, belongs(bytes[end]) { end += 1 }
        return end
    }

    /// The word at the present place, without JSON's escapes, and its end.
    private func word() -> (end: Int, word: ArraySlice<UInt8>) {
        var end = self.end(from: place, Self.isWord)
        guard escapedLetter(at: end) != nil else { return (end, bytes[place..<end]) }
        var word = bytes[place..<end]
        while end < bytes.count {
            if Self.isWord(bytes[end]) {
                word.append(bytes[end])
                end += 1
            } else if let escaped = escapedLetter(at: end) {
                word.append(escaped.letter)
                end = escaped.end
            } else {
                break
            }
        }
        return (end, word)
    }

    /// A letter that is written as `\u0074`, with as many backslashes as JSON within JSON has. Nil for anything else.
    private func escapedLetter(at start: Int) -> (letter: UInt8, end: Int)? {
        guard start < bytes.count, bytes[start] == UInt8(ascii: "\\") else { return nil }
        let digits = bytes[start...].prefix(Self.maxBackslashes).prefix { $0 == UInt8(ascii: "\\") }.endIndex + 1
        guard digits + 4 <= bytes.count, bytes[digits - 1] == UInt8(ascii: "u"),
            let letter = UInt8(String(decoding: bytes[digits..<digits + 4], as: UTF8.self), radix: 16),
            Self.isWord(letter)
        else { return nil }
        return (letter, digits + 4)
    }

    static func isWord(_ byte: UInt8) -> Bool { byte.isInIdentifier }

    /// Replaces a long run of base64 by its length.
    private mutating func skipBase64(from length: Int) -> Bool {
        guard length < Self.longBase64 || place >= measured else { return false }
        let end = endOfBase64()
        measured = max(measured, end)
        guard end - place >= length else { return false }
        guard !Self.isPlainText(bytes[place..<end]) else {
            copy(upTo: end)
            return true
        }
        out += Array("(\(end - place) characters of base64)".utf8)
        place = end
        return true
    }

    /// End of a run of base64, whose slashes may be escaped, as Apple's encoder does, and which may be wrapped.
    private func endOfBase64() -> Int {
        var (end, line) = (place, place)
        while end < bytes.count {
            let byte = bytes[end]
            if Self.isWord(byte) || byte == UInt8(ascii: "+") || byte == UInt8(ascii: "/") || byte == UInt8(ascii: "=")
            {
                end += 1
            } else if byte == UInt8(ascii: "\\"), end + 1 < bytes.count {
                switch bytes[end + 1] {
                case UInt8(ascii: "/"): end += 2
                case UInt8(ascii: "u") where bytes[(end + 2)...].starts(with: Array("00".utf8)):
                    end = min(end + 6, bytes.count)
                case UInt8(ascii: "r"), UInt8(ascii: "n"):
                    guard end - line >= Self.wrappedLine || bytes[end + 1] == UInt8(ascii: "n") && end == line
                    else { return end }
                    end += 2
                    line = end
                default: return end
                }
            } else if byte == 10 || byte == 13, end - line >= Self.wrappedLine || byte == 10 && bytes[end - 1] == 13 {
                end += 1
                line = end
            } else {
                return end
            }
        }
        return end
    }

    /// Whether a word begins a token that is base64 of JSON, a dot, and more: a JWT, or a link's ticket.
    private func isSignedToken(_ word: ArraySlice<UInt8>, _ end: Int) -> Bool {
        guard word.count >= 16, end < bytes.count, bytes[end] == UInt8(ascii: ".") else { return false }
        return word.firstRange(of: Array("eyJ".utf8)) != nil
    }
}
