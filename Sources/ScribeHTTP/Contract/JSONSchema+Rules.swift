import Basics
import Journal

/// The keywords of a schema.
extension JSONSchema {
    /// Types of values, each one bit.
    private struct Types: OptionSet {
        let rawValue: UInt8

        static let byName: [(name: String, type: Types)] = [
            ("null", .null), ("boolean", .boolean), ("string", .string), ("array", .array), ("object", .object),
            ("integer", .integer), ("number", .number),
        ]
        static let null = Types(rawValue: 1)
        static let boolean = Types(rawValue: 2)
        static let string = Types(rawValue: 4)
        static let array = Types(rawValue: 8)
        static let object = Types(rawValue: 16)
        static let integer = Types(rawValue: 32)
        static let number = Types(rawValue: 64)

        init(rawValue: UInt8) { self.rawValue = rawValue }

        init(of value: JSONValue) {
            switch value {
            case .null: self = .null
            case .bool: self = .boolean
            case .string: self = .string
            case .array: self = .array
            case .object: self = .object
            case .integer: self = [.integer, .number]
            case .number(let number): self = number.rounded() == number ? [.integer, .number] : .number
            case .digits(let text):
                let isWhole = text.utf8.allSatisfy { $0.isDigit || $0 == UInt8(ascii: "-") }
                self = isWhole ? [.integer, .number] : .number
            }
        }
    }

    /// A keyword with its value, compiled: bodies of every request pass through these. To take an enumeration's values
    /// out for each took more time than to check them.
    struct Rule: Sendable {
        /// Adds the mismatches of a value, until there are `most`.
        let check: @Sendable (_ value: JSONValue, _ most: Int, _ found: inout [Remark]) -> Void
        /// Whether no other rule is asked about a value that does not fit: a text beyond its length meets no pattern,
        /// and a value of another type no rule.
        var endsOnMismatch = false

        init(check: @escaping @Sendable (_ value: JSONValue, _ most: Int, _ found: inout [Remark]) -> Void) {
            self.check = check
        }

        /// A rule that says one sentence of a value that does not fit.
        init(_ problem: String, endsOnMismatch: Bool = false, unless fits: @escaping @Sendable (JSONValue) -> Bool) {
            check = { value, _, found in
                if !fits(value) { found.append(Remark("", problem)) }
            }
            self.endsOnMismatch = endsOnMismatch
        }
    }

    /// Member of an object.
    private struct Member: Sendable {
        var schema: JSONSchema?
        var isRequired = false
    }

    static func rules(
        _ keywords: [String: JSONValue], _ library: Library
    ) throws(Unsupported) -> [Rule] {
        func schema(_ value: JSONValue) throws(Unsupported) -> JSONSchema { try JSONSchema(value, library) }
        func list(_ value: JSONValue?) throws(Unsupported) -> [JSONSchema] {
            try (value?.arrayValue ?? []).map(schema)
        }
        func members(_ value: JSONValue?) throws(Unsupported) -> [String: JSONSchema] {
            var members: [String: JSONSchema] = [:]
            guard case .object(let found)? = value else { return members }
            for (name, value) in found { members[name] = try schema(value) }
            return members
        }
        func pattern(_ text: String) throws(Unsupported) -> SchemaPattern { try SchemaPattern(text) }
        func whole(_ value: JSONValue?) -> Int? { value?.numberValue.map { Int($0) } }
        func bounds(_ low: String, _ high: String) -> ClosedRange<Int> {
            (whole(keywords[low]) ?? 0)...(whole(keywords[high]) ?? .max)
        }
        func isThere(_ names: String...) -> Bool { names.contains { keywords[$0] != nil } }
        var rules: [Rule] = []
        // The cheap ones first, which find most mismatches.
        if let types = keywords["type"] {
            let known = (types.arrayValue ?? [types]).compactMap { type in
                Types.byName.first { .string($0.name) == type }
            }
            guard known.count == types.arrayValue?.count ?? 1 else { throw Unsupported(keyword: "type") }
            let admitted = Types(known.map(\.type))
            let names = known.map(\.name).joined(separator: " or ")
            rules.append(
                Rule("must be \(names)", endsOnMismatch: true) { !admitted.isDisjoint(with: Types(of: $0)) })
        }
        if let other = keywords["const"] {
            rules.append(Rule("is another value than the only one") { $0.isEqual(to: other) })
        }
        if let others = keywords["enum"]?.arrayValue {
            rules.append(Rule("is none of the values") { others.contains(where: $0.isEqual) })
        }
        if isThere("minLength", "maxLength") {
            let range = bounds("minLength", "maxLength")
            rules.append(
                Rule("is too short or too long", endsOnMismatch: true) {
                    if case .string(let text) = $0 { text.hasLength(in: range) } else { true }
                })
        }
        if let pattern = try keywords["pattern"]?.stringValue.map(pattern) {
            rules.append(
                Rule("has another form") { if case .string(let text) = $0 { pattern.matches(text) } else { true } })
        }
        if isThere("minimum", "maximum", "exclusiveMinimum") {
            let exclusive = keywords["exclusiveMinimum"]?.numberValue
            let (low, high) = (exclusive ?? keywords["minimum"]?.numberValue, keywords["maximum"]?.numberValue)
            rules.append(
                Rule("is too small or too large") { value in
                    guard let number = value.numberValue else { return true }
                    let isBelow = low.map { exclusive != nil ? number <= $0 : number < $0 } ?? false
                    return !isBelow && !(high.map { number > $0 } ?? false)
                })
        }
        if isThere("minItems", "maxItems") {
            let range = bounds("minItems", "maxItems")
            rules.append(
                Rule("has too few or too many items") {
                    if case .array(let values) = $0 { range.contains(values.count) } else { true }
                })
        }
        if isThere("minProperties", "maxProperties") {
            let range = bounds("minProperties", "maxProperties")
            rules.append(
                Rule("has too few or too many members") {
                    if case .object(let members) = $0 { range.contains(members.count) } else { true }
                })
        }
        if isThere("properties", "patternProperties", "additionalProperties", "required") {
            var known = try members(keywords["properties"]).mapValues { Member(schema: $0) }
            for name in keywords["required"]?.arrayValue ?? [] {
                name.stringValue.map { known[$0, default: Member()].isRequired = true }
            }
            let patterns = try members(keywords["patternProperties"]).map { ($0, $1) }
                .map { (name, schema) throws(Unsupported) in (try pattern(name), schema) }
            rules.append(rule(known, patterns, others: try keywords["additionalProperties"].map(schema)))
        }
        if let items = try keywords["items"].map(schema) {
            rules.append(
                Rule { value, most, found in
                    guard case .array(let values) = value else { return }
                    for (index, value) in values.enumerated() where found.count < most {
                        items.check(value, called: String(index), upTo: most, into: &found)
                    }
                })
        }
        if let one = try keywords["contains"].map(schema) {
            rules.append(
                Rule("lacks an item that must be there") {
                    if case .array(let values) = $0 { values.contains(where: one.admits) } else { true }
                })
        }
        for (name, schema) in try members(keywords["dependentSchemas"]) {
            rules.append(
                Rule { value, most, found in
                    guard case .object(let members) = value, members[name] != nil else { return }
                    schema.check(value, upTo: most, into: &found)
                })
        }
        if let reference = keywords["$ref"]?.stringValue {
            let known = LockedValue<JSONSchema?>(nil)
            rules.append(
                Rule { value, most, found in
                    if let schema = known.withLock(\.self) { return schema.check(value, upTo: most, into: &found) }
                    // A schema may refer to itself, so that it is not looked up before it is compiled.
                    let schema = try? library.schema(reference)
                    known.withLock { $0 = schema }
                    schema?.check(value, upTo: most, into: &found)
                })
        }
        for schema in try list(keywords["allOf"]) {
            rules.append(Rule { schema.check($0, upTo: $1, into: &$2) })
        }
        if isThere("anyOf") {
            let schemas = try list(keywords["anyOf"])
            rules.append(
                Rule("fits none of the forms") { value in schemas.contains { $0.admits(value) } })
        }
        if isThere("oneOf") {
            let schemas = try list(keywords["oneOf"])
            rules.append(
                Rule { value, _, found in
                    let count = schemas.count { $0.admits(value) }
                    guard count != 1 else { return }
                    found.append(
                        Remark("", count == 0 ? "fits none of the forms" : "fits more than one of the forms"))
                })
        }
        if let excluded = try keywords["not"].map(schema) {
            rules.append(Rule("has a form that is excluded") { !excluded.admits($0) })
        }
        if let condition = try keywords["if"].map(schema) {
            let (then, otherwise) = (try keywords["then"].map(schema), try keywords["else"].map(schema))
            rules.append(
                Rule { value, most, found in
                    (condition.admits(value) ? then : otherwise)?.check(value, upTo: most, into: &found)
                })
        }
        let known: Set<String> = [
            "type", "const", "enum", "minLength", "maxLength", "pattern", "minimum", "maximum", "exclusiveMinimum",
            "minItems", "maxItems", "minProperties", "maxProperties", "required", "properties", "patternProperties",
            "additionalProperties", "items", "contains", "dependentSchemas", "$ref", "allOf", "anyOf", "oneOf", "not",
            "if", "then", "else",
        ]
        if let other = keywords.keys.first(where: { !known.contains($0) && !annotations.contains($0) }) {
            throw Unsupported(keyword: other)
        }
        return rules
    }

    /// Rule of the members of an object.
    private static func rule(
        _ known: [String: Member], _ patterns: [(SchemaPattern, JSONSchema)], others: JSONSchema?
    ) -> Rule {
        let required = known.filter(\.value.isRequired).keys.sorted()
        return Rule { value, most, found in
            guard case .object(let members) = value else { return }
            var count = 0
            var mismatches: [Remark] = []
            for (name, value) in members where mismatches.count < most {
                let member = known[name]
                if member?.isRequired == true { count += 1 }
                member?.schema?.check(value, called: name, upTo: most, into: &mismatches)
                guard member?.schema == nil || !patterns.isEmpty else { continue }
                let fitting = patterns.filter { $0.0.matches(name) }
                for (_, schema) in fitting { schema.check(value, called: "…", upTo: most, into: &mismatches) }
                guard member?.schema == nil, fitting.isEmpty else { continue }
                others?.check(value, called: "…", upTo: most, into: &mismatches)
            }
            // The lookup of a name costs as much as the check of its value.
            if count < required.count {
                for name in required where members[name] == nil && found.count < most {
                    found.append(Remark(name, "is missing"))
                }
            }
            found += mismatches.prefix(most - min(most, found.count))
        }
    }
}

extension String {
    /// Whether the number of code points is in a range. They are counted only where the number of bytes does not tell.
    fileprivate func hasLength(in range: ClosedRange<Int>) -> Bool {
        let bytes = utf8.count
        if bytes <= range.upperBound, (bytes + 3) / 4 >= range.lowerBound { return true }
        return range.contains(unicodeScalars.count)
    }
}

extension JSONValue {
    fileprivate func isEqual(to other: JSONValue) -> Bool {
        self == other || numberValue.map { $0 == other.numberValue } ?? false
    }
}
