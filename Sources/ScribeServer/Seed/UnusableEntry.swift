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

/// Entry of a list that may be wrong, so that all wrong entries of a file are told of at once.
struct TriedEntry<Entry: Decodable>: Decodable {
    let entry: Entry?
    let error: (any Error)?

    init(from decoder: any Decoder) throws {
        do {
            (entry, error) = (try PlacedEntry<Entry>(from: decoder).entry, nil)
        } catch {
            (entry, self.error) = (nil, error)
        }
    }
}

/// Errors of a clients file, each with its place.
struct UnusableFile: Error {
    let problems: [String]
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
