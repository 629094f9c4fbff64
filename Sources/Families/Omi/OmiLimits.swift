import ScribeDomain

/// How long texts of this API may be, in Unicode scalars, as its document counts them.
enum OmiLimits {
    static let name = 255
    static let memory = 2000
    /// Speakers of one socket that have a person assigned.
    static let people = 100
    /// One thing that somebody said.
    static let segment = 16_000

    /// - Throws: ``ScribeError/invalidRequest(field:problem:)``.
    static func require(_ text: String, atMost limit: Int, _ field: String) throws(ScribeError) {
        guard text.unicodeScalars.count <= limit else {
            throw .invalidRequest(field: field, problem: "must have at most \(limit) characters")
        }
    }
}
