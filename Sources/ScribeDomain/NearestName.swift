/// The name among `known` that takes the fewest changes to get from `name`: what somebody may have meant.
package func nearestName(to name: String, among known: [String]) -> String {
    known.min { editDistance(name, $0) < editDistance(name, $1) } ?? ""
}

private func editDistance(_ first: String, _ second: String) -> Int {
    let target = Array(second)
    var row = Array(0...target.count)
    for (i, character) in first.enumerated() {
        var diagonal = row[0]
        row[0] = i + 1
        for j in target.indices {
            let above = row[j + 1]
            row[j + 1] = min(above + 1, row[j] + 1, diagonal + (character == target[j] ? 0 : 1))
            diagonal = above
        }
    }
    return row[target.count]
}

/// An entry of a file that a person wrote, and why it cannot be used.
package struct UnusableEntry: Error, CustomStringConvertible {
    package let problem: String

    package init(problem: String) { self.problem = problem }

    package var description: String { problem }
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
    package func refuseUnknownKeys(_ known: [some CodingKey]) throws {
        let names = known.map(\.stringValue)
        for key in try container(keyedBy: AnyKey.self).allKeys where !names.contains(key.stringValue) {
            let nearest = nearestName(to: key.stringValue, among: names)
            throw UnusableEntry(problem: "'\(key.stringValue)' is not known; did you mean '\(nearest)'?")
        }
    }
}
