package import Basics

/// Kind of an identifier that answers show. Each kind has a counter of its own where identifiers come from a
/// ``SeedValue``.
package enum IdentifierKind: String, CaseIterable, Sendable {
    case conversation, document, encounter, feedback, memory, photo, recording, run, section, segment, session,
        template, test, transaction, transcription, upload, user, utterance
    /// Requests of the emulated families.
    case request
}

/// Identifiers of one world: random, or a function of a seed value.
///
/// With a seed value an identifier depends on it, on the identifier's kind and on the number of earlier identifiers of
/// that kind, and on nothing else. Secrets, keys, codes and tokens come from ``random`` in either case.
package final class WorldIdentifiers: Sendable {
    /// Source of secrets, and of names that no answer shows.
    package let random: IdentifierSource
    /// nil where identifiers are random.
    package let seed: SeedValue?
    private let made: LockedValue<IdentifierCounts>

    /// - Parameter counts: identifiers that were made before, as a snapshot kept them.
    package init(_ random: IdentifierSource, seed: SeedValue? = nil, after counts: IdentifierCounts = .init()) {
        self.random = random
        self.seed = seed
        made = LockedValue(counts)
    }

    /// Identifiers of another world, with the same source and seed value.
    /// - Parameter counts: identifiers that were made before; without a seed value they do not matter.
    package func continuing(after counts: IdentifierCounts?) -> WorldIdentifiers {
        WorldIdentifiers(random, seed: seed, after: counts ?? .init())
    }

    /// Identifiers made so far, for a snapshot. Empty where identifiers are random.
    package var counts: IdentifierCounts { made.withLock { $0 } }

    /// Returns a new UUID in lower case.
    package func uuid(_ kind: IdentifierKind) -> String {
        // Each transaction has some documents. Random ids would lie in as many pages of an index.
        guard let seed else { return kind == .document ? random.orderedUUID() : random.uuid() }
        var bytes = next(16, kind, of: seed)
        bytes[6] = bytes[6] & 0x0F | 0x40
        bytes[8] = bytes[8] & 0x3F | 0x80
        let text = Array(Hex.encode(bytes))
        return [0..<8, 8..<12, 12..<16, 16..<20, 20..<32].map { String(text[$0]) }.joined(separator: "-")
    }

    /// Returns bytes of a new identifier. Not fit for secrets.
    package func bytes(_ count: Int, _ kind: IdentifierKind) -> [UInt8] {
        guard let seed else { return random.bytes(count) }
        return next(count, kind, of: seed)
    }

    private func next(_ count: Int, _ kind: IdentifierKind, of seed: SeedValue) -> [UInt8] {
        let number = made.withLock { $0.next(kind) }
        var generator = seed.generator(of: "\(kind.rawValue) \(number)")
        return (0..<count).map { _ in UInt8(truncatingIfNeeded: generator.next()) }
    }
}

/// Counts of the identifiers that a world has made, by kind.
package struct IdentifierCounts: Hashable, Sendable, Codable {
    /// Largest count in a snapshot; far enough below `Int.max` that counting on cannot overflow.
    private static let limit = 1 << 53

    private var numbers: [String: Int] = [:]

    package init() {}

    /// - Throws: `DecodingError` for a number below 0 or above 2⁵³.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        numbers = try container.decode([String: Int].self)
        guard numbers.values.allSatisfy({ (0...Self.limit).contains($0) }) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "a number is out of range")
        }
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(numbers)
    }

    package var isEmpty: Bool { numbers.isEmpty }

    /// Counts an identifier, and returns its number, from 1 on.
    fileprivate mutating func next(_ kind: IdentifierKind) -> Int {
        numbers[kind.rawValue, default: 0] += 1
        return numbers[kind.rawValue] ?? 0
    }
}

/// Seed of a world's reproducible identifiers: 1 to 64 printable ASCII characters.
package struct SeedValue: Hashable, Sendable, CustomStringConvertible {
    package static let rule = "1 to 64 letters, digits and signs, without spaces"

    package let description: String

    /// - Returns: nil for a text that is no seed value.
    package init?(_ text: String) {
        guard (1...64).contains(text.utf8.count), text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            return nil
        }
        description = text
    }
}

extension SeedValue {
    /// A generator whose numbers depend on the seed value and on a text. Not fit for secrets.
    package func generator(of text: String) -> SeededGenerator {
        SeededGenerator(state: FNV.hash(of: "\(description) \(text)".utf8))
    }
}

/// SplitMix64: a random number generator that gives the same numbers for the same state. Not fit for secrets.
package struct SeededGenerator: RandomNumberGenerator, Sendable {
    fileprivate var state: UInt64

    fileprivate init(state: UInt64) { self.state = state }

    /// Creates a generator with a random state.
    package init(random: IdentifierSource) {
        state = random.bytes(8).reduce(0) { $0 << 8 | UInt64($1) }
    }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
