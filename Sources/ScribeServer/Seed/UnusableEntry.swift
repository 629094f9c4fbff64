import ScribeDomain

/// An entry of a file that a person wrote, and why it cannot be used.
struct UnusableEntry: Error, CustomStringConvertible {
    let problem: String

    init(problem: String) { self.problem = problem }

    var description: String { problem }
}

private struct AnyKey: CodingKey {
    let stringValue: String
    let intValue: Int? = nil

    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
}

extension Decoder {
    /// For files that people write: a key with a slip in it would otherwise have no effect and nobody would be told.
    /// - Throws: ``UnusableEntry`` that names the nearest known key.
    func refuseUnknownKeys(_ known: [some CodingKey]) throws {
        let names = known.map(\.stringValue)
        for key in try container(keyedBy: AnyKey.self).allKeys where !names.contains(key.stringValue) {
            let nearest = nearestName(to: key.stringValue, among: names)
            throw UnusableEntry(problem: "'\(key.stringValue)' is not known; did you mean '\(nearest)'?")
        }
    }
}
