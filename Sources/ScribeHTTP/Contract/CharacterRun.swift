/// Pattern of the form `^[…]{m,n}$`, as most of a document are: a text of some characters alone. A regular expression
/// takes a hundred times as long for it.
struct CharacterRun: Sendable {
    /// Whether each ASCII character may occur.
    private var admitted = [Bool](repeating: false, count: 128)
    private var admitsOthers = false
    /// Number of code points.
    private var count = 1...1

    /// - Returns: nil for a pattern of another form.
    init?(_ pattern: String) {
        var rest = pattern.utf8[...]
        guard rest.starts(with: "^[".utf8), let last = rest.last, last == UInt8(ascii: "$") else { return nil }
        rest = rest.dropFirst(2).dropLast()
        let isNegated = rest.first == UInt8(ascii: "^")
        if isNegated { rest.removeFirst() }
        while rest.first != UInt8(ascii: "]") {
            guard let first = Self.character(&rest) else { return nil }
            var end = first
            if rest.first == UInt8(ascii: "-"), rest.dropFirst().first != UInt8(ascii: "]") {
                rest.removeFirst()
                guard let last = Self.character(&rest), last >= first else { return nil }
                end = last
            }
            for character in first...end { admitted[Int(character)] = true }
        }
        guard let count = Self.count(String(Substring(rest.dropFirst()))) else { return nil }
        self.count = count
        if isNegated {
            admitted = admitted.map { !$0 }
            admitsOthers = true
        }
    }

    /// Takes a character of a class: one of ASCII, or an escape such as `\x1f`.
    private static func character(_ rest: inout Substring.UTF8View) -> UInt8? {
        guard let byte = rest.popFirst(), byte < 0x80, byte != UInt8(ascii: "[") else { return nil }
        guard byte == UInt8(ascii: "\\") else { return byte }
        guard rest.popFirst() == UInt8(ascii: "x"), let code = UInt8(String(Substring(rest.prefix(2))), radix: 16),
            code < 0x80
        else { return nil }
        rest.removeFirst(2)
        return code
    }

    private static func count(_ quantifier: String) -> ClosedRange<Int>? {
        switch quantifier {
        case "": return 1...1
        case "*": return 0...Int.max
        case "+": return 1...Int.max
        default:
            guard quantifier.first == "{", quantifier.last == "}" else { return nil }
            let ends = quantifier.dropFirst().dropLast().split(separator: ",", omittingEmptySubsequences: false)
            guard ends.count <= 2, let low = Int(ends[0]),
                let high = ends.last == "" ? .max : Int(ends[ends.count - 1]),
                low <= high
            else { return nil }
            return low...high
        }
    }

    func matches(_ text: String) -> Bool {
        var found = 0
        for byte in text.utf8 {
            guard byte < 0x80 ? admitted[Int(byte)] : admitsOthers else { return false }
            // Other bytes go on with a code point.
            if byte & 0xC0 != 0x80 { found += 1 }
        }
        return count.contains(found)
    }
}
