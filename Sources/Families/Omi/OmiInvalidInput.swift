import Basics
import HummingbirdCore

/// Input that the signature of the backend's operation refuses: the element of FastAPI's 422.
///
/// FastAPI repeats the input in `input`. This server repeats nothing that was sent: `input` is null.
struct OmiInvalidInput: Error, Hashable, Sendable {
    /// Part of the request that holds the input.
    enum Place: String, Sendable { case body, path, query }

    let place: Place
    /// Name of the parameter, or path of the body's field with points between; nil for the whole body.
    let field: String?
    /// FastAPI's name for the error.
    let type: String
    let message: String

    init(_ place: Place, _ field: String?, type: String = "value_error", _ message: String) {
        self.place = place
        self.field = field
        self.type = type
        self.message = message
    }

    static func missing(_ place: Place, _ field: String) -> Self {
        Self(place, field, type: "missing", "Field required")
    }

    var json: JSON {
        let names = field?.split(separator: ".") ?? []
        let location: [JSON] = names.map { name in
            if let index = Int(name) { .integer(index) } else { .string(String(name)) }
        }
        return [
            "type": .string(type), "loc": .array([.string(place.rawValue)] + location), "msg": .string(message),
            "input": .null,
        ]
    }
}

/// Parameters of the query, as FastAPI reads them.
extension FlatDictionary<Substring, Substring> {
    /// The text of a parameter, which may be empty; nil if absent.
    /// - Parameter limit: Most Unicode scalars.
    func text(_ name: String, atMost limit: Int) throws(OmiInvalidInput) -> String? {
        guard let text = self[name[...]] else { return nil }
        guard text.unicodeScalars.count <= limit else {
            throw OmiInvalidInput(
                .query, name, type: "string_too_long", "String should have at most \(limit) characters")
        }
        return String(text)
    }

    /// The integer of a parameter, moved into a range; nil if absent.
    func integer(_ name: String, movedInto range: ClosedRange<Int>) throws(OmiInvalidInput) -> Int? {
        guard let text = self[name[...]] else { return nil }
        guard let number = Int(text) else {
            throw OmiInvalidInput(
                .query, name, type: "int_parsing",
                "Input should be a valid integer, unable to parse string as an integer")
        }
        return Swift.min(Swift.max(number, range.lowerBound), range.upperBound)
    }

    /// The integer of a parameter; nil if absent.
    func integer(_ name: String, from least: Int, to most: Int) throws(OmiInvalidInput) -> Int? {
        guard let number = try integer(name, movedInto: Int.min...Int.max) else { return nil }
        guard number >= least else {
            throw OmiInvalidInput(
                .query, name, type: "greater_than_equal", "Input should be greater than or equal to \(least)")
        }
        guard number <= most else {
            throw OmiInvalidInput(
                .query, name, type: "less_than_equal", "Input should be less than or equal to \(most)")
        }
        return number
    }

    /// The truth value of a parameter, in each of Pydantic's words; nil if absent.
    func boolean(_ name: String) throws(OmiInvalidInput) -> Bool? {
        guard let text = self[name[...]] else { return nil }
        switch text.lowercased() {
        case "true", "1", "on", "t", "y", "yes": return true
        case "false", "0", "off", "f", "n", "no": return false
        default:
            throw OmiInvalidInput(
                .query, name, type: "bool_parsing", "Input should be a valid boolean, unable to interpret input")
        }
    }
}
