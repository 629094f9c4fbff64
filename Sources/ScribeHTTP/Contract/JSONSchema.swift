import Basics
import Journal

/// JSON Schema 2020-12, for exactly the keywords that the API documents use.
///
/// Verdicts are those of Python's `jsonschema`, which does not check `format`. A place in a mismatch has documented
/// names and positions only: the names that a client invents may be a patient's.
final class JSONSchema: Sendable {
    /// A schema that this type cannot check.
    struct Unsupported: Error, Hashable, Sendable {
        let keyword: String
    }

    /// Schemas that `$ref` names, compiled when they are first used.
    final class Library: Sendable {
        private let root: JSONValue
        private let known = LockedValue<[String: JSONSchema]>([:])

        /// - Parameter root: Document to whose parts references lead, as `#/components/schemas/NAME`.
        init(_ root: JSONValue) { self.root = root }

        /// - Throws: ``Unsupported`` for a reference that leads nowhere.
        func schema(_ reference: String) throws(Unsupported) -> JSONSchema {
            if let schema = known.withLock({ $0[reference] }) { return schema }
            let schema = try JSONSchema(try value(at: reference), self)
            known.withLock { $0[reference] = schema }
            return schema
        }

        /// The part of the document that a reference names.
        func value(at reference: String) throws(Unsupported) -> JSONValue {
            var value: JSONValue? = root
            for name in reference.split(separator: "/").dropFirst() { value = value?[String(name)] }
            guard reference.hasPrefix("#/"), let value else { throw Unsupported(keyword: "$ref \(reference)") }
            return value
        }
    }

    fileprivate enum ValueType: String {
        case null, boolean, string, array, object, integer, number
    }

    private indirect enum Rule: Sendable {
        case never
        case reference(String)
        case types([ValueType])
        case constant(JSONValue)
        case enumeration([JSONValue])
        case length(ClosedRange<Int>)
        case pattern(SchemaPattern)
        case range(from: Double?, isExclusive: Bool, to: Double?)
        case count(ClosedRange<Int>)
        case items(JSONSchema)
        case contains(JSONSchema)
        case memberCount(ClosedRange<Int>)
        case required([String])
        case members([String: JSONSchema], patterns: [(SchemaPattern, JSONSchema)], others: JSONSchema?)
        case dependent([String: JSONSchema])
        case all([JSONSchema])
        case any([JSONSchema])
        case one([JSONSchema])
        case not(JSONSchema)
        case condition(JSONSchema, then: JSONSchema?, otherwise: JSONSchema?)

        var endsOnMismatch: Bool {
            switch self {
            case .types, .length: true
            default: false
            }
        }
    }

    private static let annotations: Set<String> = [
        "description", "default", "example", "examples", "format", "title", "deprecated", "readOnly", "writeOnly",
        "contentEncoding", "contentMediaType",
    ]

    private let rules: [Rule]
    private let library: Library

    /// - Throws: ``Unsupported``.
    init(_ schema: JSONValue, _ library: Library) throws(Unsupported) {
        self.library = library
        switch schema {
        case .bool(let isAdmitted): rules = isAdmitted ? [] : [.never]
        case .object(let keywords): rules = try Self.rules(keywords, library)
        default: throw Unsupported(keyword: "schema")
        }
    }

    private static func rules(
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
        func whole(_ value: JSONValue?) -> Int? { value?.numberValue.map { Int($0) } }
        func bounds(_ low: String, _ high: String) -> ClosedRange<Int> {
            (whole(keywords[low]) ?? 0)...(whole(keywords[high]) ?? .max)
        }
        func isThere(_ names: String...) -> Bool { names.contains { keywords[$0] != nil } }
        var rules: [Rule] = []
        // The cheap ones first, which find most mismatches.
        if let types = keywords["type"] {
            let known = (types.arrayValue ?? [types]).map { $0.stringValue.flatMap(ValueType.init) }
            guard !known.contains(nil) else { throw Unsupported(keyword: "type") }
            rules.append(.types(known.compactMap(\.self)))
        }
        if let value = keywords["const"] { rules.append(.constant(value)) }
        if let values = keywords["enum"]?.arrayValue { rules.append(.enumeration(values)) }
        if isThere("minLength", "maxLength") { rules.append(.length(bounds("minLength", "maxLength"))) }
        if let pattern = keywords["pattern"]?.stringValue { rules.append(.pattern(try SchemaPattern(pattern))) }
        if isThere("minimum", "maximum", "exclusiveMinimum") {
            let exclusive = keywords["exclusiveMinimum"]?.numberValue
            rules.append(
                .range(
                    from: exclusive ?? keywords["minimum"]?.numberValue, isExclusive: exclusive != nil,
                    to: keywords["maximum"]?.numberValue))
        }
        if isThere("minItems", "maxItems") { rules.append(.count(bounds("minItems", "maxItems"))) }
        if isThere("minProperties", "maxProperties") {
            rules.append(.memberCount(bounds("minProperties", "maxProperties")))
        }
        if let names = keywords["required"]?.arrayValue { rules.append(.required(names.compactMap(\.stringValue))) }
        if isThere("properties", "patternProperties", "additionalProperties") {
            var patterns: [(SchemaPattern, JSONSchema)] = []
            for (pattern, value) in try members(keywords["patternProperties"]) {
                patterns.append((try SchemaPattern(pattern), value))
            }
            rules.append(
                .members(
                    try members(keywords["properties"]), patterns: patterns,
                    others: try keywords["additionalProperties"].map(schema)))
        }
        if let items = keywords["items"] { rules.append(.items(try schema(items))) }
        if let one = keywords["contains"] { rules.append(.contains(try schema(one))) }
        if isThere("dependentSchemas") { rules.append(.dependent(try members(keywords["dependentSchemas"]))) }
        if let reference = keywords["$ref"]?.stringValue { rules.append(.reference(reference)) }
        if isThere("allOf") { rules.append(.all(try list(keywords["allOf"]))) }
        if isThere("anyOf") { rules.append(.any(try list(keywords["anyOf"]))) }
        if isThere("oneOf") { rules.append(.one(try list(keywords["oneOf"]))) }
        if let value = keywords["not"] { rules.append(.not(try schema(value))) }
        if let condition = keywords["if"] {
            rules.append(
                .condition(
                    try schema(condition), then: try keywords["then"].map(schema),
                    otherwise: try keywords["else"].map(schema)))
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

    /// Whether a schema has no keyword but `type`.
    static func isOnlyType(_ schema: JSONValue) -> Bool {
        guard case .object(let keywords) = schema else { return false }
        return keywords.keys.allSatisfy { $0 == "type" || annotations.contains($0) }
    }

    /// Whether a value fits.
    func admits(_ value: JSONValue) -> Bool {
        var found: [Remark] = []
        check(value, upTo: 1, into: &found)
        return found.isEmpty
    }

    /// Parts of a value that do not fit, in no particular order.
    /// - Parameter most: Number after which the search ends.
    func mismatches(of value: JSONValue, atMost most: Int = 5) -> [Remark] {
        var found: [Remark] = []
        check(value, upTo: most, into: &found)
        return found.sorted { ($0.place, $0.problem) < ($1.place, $1.problem) }
    }

    /// Adds the mismatches of a value. Their places begin at the value.
    private func check(_ value: JSONValue, upTo most: Int, into found: inout [Remark]) {
        for rule in rules {
            guard found.count < most else { return }
            let count = found.count
            check(value, rule, upTo: most, into: &found)
            // A text beyond its length meets no pattern, and a value of another type no rule.
            if found.count > count, rule.endsOnMismatch { return }
        }
    }

    private func check(
        _ value: JSONValue, _ rule: Rule, upTo most: Int, into found: inout [Remark]
    ) {
        func mismatch(_ problem: String) { found.append(Remark("", problem)) }
        func check(_ part: JSONValue, called name: @autoclosure () -> String, with schema: JSONSchema) {
            let count = found.count
            schema.check(part, upTo: most, into: &found)
            for index in count..<found.count { found[index] = found[index].inside(name()) }
        }
        switch (rule, value) {
        case (.never, _): mismatch("is not documented")
        case (.reference(let name), _):
            guard let schema = try? library.schema(name) else { return }
            schema.check(value, upTo: most, into: &found)
        case (.types(let types), _):
            if !types.contains(where: value.isOfType) {
                mismatch("must be \(types.map(\.rawValue).joined(separator: " or "))")
            }
        case (.constant(let other), _): if !value.isEqual(to: other) { mismatch("is another value than the only one") }
        case (.enumeration(let others), _):
            if !others.contains(where: value.isEqual) { mismatch("is none of the values") }
        case (.length(let range), .string(let text)):
            if !range.contains(text.unicodeScalars.count) { mismatch("is too short or too long") }
        case (.pattern(let pattern), .string(let text)): if !pattern.matches(text) { mismatch("has another form") }
        case (.range(let low, let isExclusive, let high), .integer),
            (.range(let low, let isExclusive, let high), .number),
            (.range(let low, let isExclusive, let high), .digits):
            let number = value.numberValue ?? 0
            let isBelow = low.map { isExclusive ? number <= $0 : number < $0 } ?? false
            if isBelow || high.map({ number > $0 }) ?? false { mismatch("is too small or too large") }
        case (.count(let range), .array(let values)):
            if !range.contains(values.count) { mismatch("has too few or too many items") }
        case (.items(let schema), .array(let values)):
            for (index, value) in values.enumerated() where found.count < most {
                check(value, called: String(index), with: schema)
            }
        case (.contains(let schema), .array(let values)):
            if !values.contains(where: schema.admits) { mismatch("lacks an item that must be there") }
        case (.memberCount(let range), .object(let members)):
            if !range.contains(members.count) { mismatch("has too few or too many members") }
        case (.required(let names), .object(let members)):
            for name in names where members[name] == nil && found.count < most {
                found.append(Remark(name, "is missing"))
            }
        case (.members(let known, let patterns, let others), .object(let members)):
            for (name, value) in members where found.count < most {
                let schema = known[name]
                if let schema { check(value, called: name, with: schema) }
                let fitting = patterns.filter { $0.0.matches(name) }
                for (_, schema) in fitting { check(value, called: "…", with: schema) }
                if schema == nil, fitting.isEmpty, let others { check(value, called: "…", with: others) }
            }
        case (.dependent(let schemas), .object(let members)):
            for (name, schema) in schemas where members[name] != nil {
                schema.check(value, upTo: most, into: &found)
            }
        case (.all(let schemas), _):
            for schema in schemas { schema.check(value, upTo: most, into: &found) }
        case (.any(let schemas), _):
            if !schemas.contains(where: { $0.admits(value) }) { mismatch("fits none of the forms") }
        case (.one(let schemas), _):
            let count = schemas.count { $0.admits(value) }
            if count != 1 { mismatch(count == 0 ? "fits none of the forms" : "fits more than one of the forms") }
        case (.not(let schema), _): if schema.admits(value) { mismatch("has a form that is excluded") }
        case (.condition(let condition, let then, let otherwise), _):
            (condition.admits(value) ? then : otherwise)?.check(value, upTo: most, into: &found)
        // Rules about values of another type hold.
        default: return
        }
    }
}

extension JSONValue {
    fileprivate func isOfType(_ type: JSONSchema.ValueType) -> Bool {
        switch (self, type) {
        case (.null, .null), (.bool, .boolean), (.string, .string), (.array, .array), (.object, .object): true
        case (.integer, .integer), (.integer, .number), (.number, .number), (.digits, .number): true
        case (.number(let number), .integer): number.rounded() == number
        case (.digits(let text), .integer): text.utf8.allSatisfy { $0.isDigit || $0 == UInt8(ascii: "-") }
        default: false
        }
    }

    fileprivate func isEqual(to other: JSONValue) -> Bool {
        self == other || numberValue.map { $0 == other.numberValue } ?? false
    }
}
