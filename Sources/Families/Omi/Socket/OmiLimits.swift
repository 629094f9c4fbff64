import ScribeDomain

/// Limits of the Omi API. Text lengths are in Unicode scalars, as its documentation counts them.
enum OmiLimits {
    static let name = 255
    static let memory = 2000
    /// Most speakers of one socket with an assigned person.
    static let people = 100
    /// Longest text of one segment.
    static let segment = 16_000

    /// Checks the length of a text.
    /// - Throws: ``ScribeError/invalidRequest(field:problem:)``.
    static func require(_ text: String, atMost limit: Int, _ field: String) throws(ScribeError) {
        guard text.unicodeScalars.count <= limit else {
            throw .invalidRequest(field: field, problem: "must have at most \(limit) characters")
        }
    }
}
