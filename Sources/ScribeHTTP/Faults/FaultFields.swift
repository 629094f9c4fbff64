import Foundation
import ScribeDomain

/// Reads and validates the members of a fault rule. A number may be a string, because headers and the command line have
/// only strings. A missing member is nil, or false for ``flag(_:)``.
struct FaultFields {
    private let members: [String: JSONValue]

    init(_ members: [String: JSONValue]) { self.members = members }

    subscript(name: String) -> JSONValue? { members[name] }

    func has(_ name: String) -> Bool { members[name] != nil }

    func problem(_ name: String, _ problem: String) -> ScribeError { .invalidRequest(field: name, problem: problem) }

    /// The error for a name that is not known, with the nearest one.
    func unknown(_ field: String, _ name: String, among known: [String]) -> ScribeError {
        let near = nearestName(to: String(name.prefix(64)), among: known)
        return problem(field, "is not known; the nearest name is \(near)")
    }

    /// - Throws: ``ScribeError/invalidRequest(field:problem:)`` for a member of another name.
    func requireKnown(_ names: [String]) throws(ScribeError) {
        for name in members.keys.sorted() where !names.contains(name) {
            // The name is the client's text: only a short plain one is repeated.
            let shown = name.utf8.count <= 64 && name.isPlain ? name : "?"
            throw unknown(shown, name, among: names)
        }
    }

    func text(_ name: String, upTo limit: Int = 255) throws(ScribeError) -> String? {
        guard let value = members[name] else { return nil }
        guard let text = value.stringValue, !text.isEmpty, text.utf8.count <= limit, text.isPlain else {
            throw problem(name, "must be a text of 1 to \(limit) bytes")
        }
        return text
    }

    func integer(_ name: String, from low: Int, to high: Int = 1_000_000_000) throws(ScribeError) -> Int? {
        guard let value = members[name] else { return nil }
        let number: Int? =
            switch value {
            case .integer(let number): Int(exactly: number)
            case .string(let text): Int(text)
            case .null, .bool, .number, .digits, .array, .object: nil
            }
        guard let number, (low...high).contains(number) else {
            throw problem(name, "must be a whole number from \(low) to \(high)")
        }
        return number
    }

    /// A number above 0, and at most 1.
    func probability(_ name: String) throws(ScribeError) -> Double? {
        guard let value = members[name] else { return nil }
        guard let number = value.numberValue ?? value.stringValue.flatMap(Double.init), number > 0, number <= 1 else {
            throw problem(name, "must be a number above 0, and at most 1")
        }
        return number
    }

    func flag(_ name: String) throws(ScribeError) -> Bool {
        switch members[name] {
        case nil: return false
        case .bool(let value): return value
        case .string("true"): return true
        case .string("false"): return false
        default: throw problem(name, "must be true or false")
        }
    }

    func choice<Choice: RawRepresentable & CaseIterable>(
        _ name: String, among type: Choice.Type
    ) throws(ScribeError) -> Choice? where Choice.RawValue == String {
        guard let text = try text(name) else { return nil }
        guard let choice = Choice(rawValue: text) else {
            throw unknown(name, text, among: Choice.allCases.map(\.rawValue))
        }
        return choice
    }
}
