import Basics

/// Regular expression of a schema.
///
/// Unchecked: an expression does not change.
struct SchemaPattern: @unchecked Sendable {
    /// Longest text that is cached with its match, in bytes of UTF-8.
    private static let longest = 32

    private let run: CharacterRun?
    private let expression: Regex<AnyRegexOutput>
    /// Swift matches a character in a tenth of a microsecond, and clients send the same ids and languages again.
    private let known = RecentValues<String, Bool>(limit: 64)

    /// - Throws: ``JSONSchema/Unsupported`` for a pattern that cannot be read.
    init(_ pattern: String) throws(JSONSchema.Unsupported) {
        guard let expression = try? Regex(pattern) else { throw JSONSchema.Unsupported(keyword: "pattern \(pattern)") }
        run = CharacterRun(pattern)
        // As in Python and JavaScript a character is a code point.
        self.expression = expression.matchingSemantics(.unicodeScalar)
    }

    func matches(_ text: String) -> Bool {
        if let run { return run.matches(text) }
        // Swift takes texts for equal that differ in code points beyond ASCII.
        guard text.utf8.count <= Self.longest, text.utf8.allSatisfy({ $0 < 0x80 }) else { return isMatched(by: text) }
        if let answer = known[text] { return answer }
        let answer = isMatched(by: text)
        known.remember(answer, of: text)
        return answer
    }

    private func isMatched(by text: String) -> Bool { (try? expression.firstMatch(in: text)) != nil }
}
