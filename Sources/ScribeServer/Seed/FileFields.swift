import Basics
import Yams

/// Keys and values of a clients or fixtures file, with their place in the file, which errors name.
///
/// They are read without a `Decoder`: its casts cost a tenth of a start.
struct FileFields {
    /// Error of a value, with its place.
    struct Mistake: Error, CustomStringConvertible {
        let description: String

        /// - Parameter text: the rest of the sentence, which begins with the place.
        fileprivate init(_ place: [String], _ text: String) {
            description = (place.isEmpty ? "the file" : place.joined(separator: ", ")) + text
        }
    }

    private let place: [String]
    private let values: [String: Node]

    /// - Parameters:
    ///   - place: empty for a whole file.
    ///   - known: the keys that there may be, since a misspelled key would otherwise have no effect and no error; nil
    ///     for any.
    /// - Throws: ``Mistake`` unless the node has keys and values; ``UnusableEntry`` that names the nearest known key.
    init(_ node: Node?, at place: [String] = [], known: [String]?) throws {
        guard case .mapping(let mapping)? = node else { throw Mistake(place, " must hold keys and values") }
        self.place = place
        values = Self.values(of: mapping)
        for key in values.keys.sorted() {
            guard let known, !known.contains(key) else { continue }
            let nearest = nearestName(to: key, among: known)
            throw UnusableEntry(problem: "'\(key)' is not known; did you mean '\(nearest)'?")
        }
    }

    /// The values by their keys, with those of other mappings that YAML's merge key (`<<`) names.
    private static func values(of mapping: Node.Mapping) -> [String: Node] {
        var (own, merged): ([String: Node], [String: Node]) = ([:], [:])
        for (key, value) in mapping {
            guard let name = key.scalar?.string else { continue }
            guard name == "<<" else {
                own[name] = value
                continue
            }
            for base in value.sequence.map(Array.init) ?? [value] {
                if let base = base.mapping { merged.merge(values(of: base)) { first, _ in first } }
            }
        }
        return own.merging(merged) { own, _ in own }
    }

    var names: [String] { Array(values.keys) }

    /// - Throws: ``Mistake`` for a missing or another value, as all below.
    func text(_ key: String) throws -> String { try required(key, text(ifPresent: key)) }

    func text(ifPresent key: String) throws -> String? { try scalar(key, "a single value") { $0.string } }

    /// A word of a closed list.
    /// - Throws: also ``UnusableEntry`` with all words.
    func word<Word: RawRepresentable & CaseIterable>(ifPresent key: String) throws -> Word?
    where Word.RawValue == String {
        guard let text = try text(ifPresent: key) else { return nil }
        return try Self.known(text)
    }

    func words<Word: RawRepresentable & CaseIterable>(ifPresent key: String) throws -> [Word]?
    where Word.RawValue == String {
        guard let texts = try texts(ifPresent: key) else { return nil }
        var words: [Word] = []
        for text in texts { words.append(try Self.known(text)) }
        return words
    }

    private static func known<Word: RawRepresentable & CaseIterable>(_ text: String) throws -> Word
    where Word.RawValue == String {
        guard let word = Word(rawValue: text) else {
            let known = Word.allCases.map(\.rawValue).joined(separator: ", ")
            throw UnusableEntry(problem: "'\(text)' is not known; there are \(known)")
        }
        return word
    }

    func integer(ifPresent key: String) throws -> Int? { try scalar(key, "a whole number", Int.construct) }

    func number(ifPresent key: String) throws -> Double? { try scalar(key, "a number", Double.construct) }

    func flag(ifPresent key: String) throws -> Bool? { try scalar(key, "true or false", Bool.construct) }

    func texts(ifPresent key: String) throws -> [String]? {
        try nodes(key)?.map { node, place in
            guard let scalar = node.scalar else { throw Mistake(place, " must be a single value") }
            return scalar.string
        }
    }

    /// A value with keys and values of its own.
    func fields(ifPresent key: String, known: [String]?) throws -> FileFields? {
        try present(key).map { try FileFields($0, at: place + [key], known: known) }
    }

    /// Reads a list of entries; errors in one become errors at its place.
    func list<Entry>(
        _ key: String, known: [String], _ read: (FileFields) throws -> Entry
    ) throws -> [Entry]? {
        try entries(key, known: known, read)?.map { try $0.get() }
    }

    /// Reads a list of entries, the wrong ones among them.
    func entries<Entry>(
        _ key: String, known: [String], _ read: (FileFields) throws -> Entry
    ) throws -> [Result<Entry, any Error>]? {
        try nodes(key)?.map { node, place in
            Result {
                do {
                    return try read(FileFields(node, at: place, known: known))
                } catch let problem as UnusableEntry {
                    throw Mistake(place, ": \(problem.problem)")
                }
            }
        }
    }

    /// - Throws: ``Mistake`` for nil.
    func required<Value>(_ key: String, _ value: Value?) throws -> Value {
        guard let value else { throw Mistake(place, ": '\(key)' is missing") }
        return value
    }

    private func present(_ key: String) -> Node? {
        guard let node = values[key] else { return nil }
        guard let scalar = node.scalar, scalar.style == .plain else { return node }
        return ["", "~", "null"].contains(scalar.string) ? nil : node
    }

    private func scalar<Value>(
        _ key: String, _ form: String, _ read: (Node.Scalar) -> Value?
    ) throws -> Value? {
        guard let node = present(key) else { return nil }
        guard let value = node.scalar.flatMap(read) else { throw Mistake(place + [key], " must be \(form)") }
        return value
    }

    private func nodes(_ key: String) throws -> [(node: Node, place: [String])]? {
        guard let node = present(key) else { return nil }
        guard case .sequence(let sequence) = node else { throw Mistake(place + [key], " must be a list") }
        return sequence.enumerated().map { ($0.element, place + [key, "entry \($0.offset + 1)"]) }
    }
}

/// Error in an entry of a clients or fixtures file.
struct UnusableEntry: Error, CustomStringConvertible {
    let problem: String

    var description: String { problem }
}

/// Errors of a clients file, each with its place.
struct UnusableFile: Error {
    let problems: [String]
}
