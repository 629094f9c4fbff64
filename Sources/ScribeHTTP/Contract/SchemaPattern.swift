/// Regular expression of a schema.
///
/// Unchecked: an expression does not change.
struct SchemaPattern: @unchecked Sendable {
    private let expression: Regex<AnyRegexOutput>

    /// - Throws: ``JSONSchema/Unsupported`` for a pattern that cannot be read.
    init(_ pattern: String) throws(JSONSchema.Unsupported) {
        guard let expression = try? Regex(pattern) else { throw JSONSchema.Unsupported(keyword: "pattern \(pattern)") }
        // As in Python and JavaScript a character is a code point.
        self.expression = expression.matchingSemantics(.unicodeScalar)
    }

    func matches(_ text: String) -> Bool { (try? expression.firstMatch(in: text)) != nil }
}
