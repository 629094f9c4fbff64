import ScribeDomain

/// An entry of a file that a person wrote, and why it cannot be used.
struct UnusableEntry: Error, CustomStringConvertible {
    let problem: String

    init(problem: String) { self.problem = problem }

    var description: String { problem }
}

/// An entry of a list in such a file. A problem with the entry is told with its place in the file.
struct PlacedEntry<Entry: Decodable>: Decodable {
    let entry: Entry

    init(from decoder: any Decoder) throws {
        do {
            entry = try Entry(from: decoder)
        } catch let problem as UnusableEntry {
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: "\(problem)", underlyingError: problem))
        }
    }
}

extension Decoder {
    /// For files that people write: a key with a slip in it would otherwise have no effect and nobody would be told.
    /// - Throws: ``UnusableEntry`` that names the nearest known key.
    func refuseUnknownKeys(_ known: [some CodingKey]) throws {
        let names = known.map(\.stringValue)
        for key in try keyNames where !names.contains(key) {
            let nearest = nearestName(to: key, among: names)
            throw UnusableEntry(problem: "'\(key)' is not known; did you mean '\(nearest)'?")
        }
    }
}
