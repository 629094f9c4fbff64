import Basics

/// Error in an entry of a clients or fixtures file.
struct UnusableEntry: Error, CustomStringConvertible {
    let problem: String

    init(problem: String) { self.problem = problem }

    var description: String { problem }
}

/// Entry of a list in a clients or fixtures file. Errors in it become decoding errors with its place in the file.
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
    /// Refuses unknown keys, since a misspelled key would otherwise have no effect and no error.
    /// - Throws: ``UnusableEntry`` that names the nearest known key.
    func refuseUnknownKeys(_ known: [some CodingKey]) throws {
        let names = known.map(\.stringValue)
        for key in try keyNames where !names.contains(key) {
            let nearest = nearestName(to: key, among: names)
            throw UnusableEntry(problem: "'\(key)' is not known; did you mean '\(nearest)'?")
        }
    }
}
