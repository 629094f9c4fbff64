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

    static let annotations: Set<String> = [
        "description", "default", "example", "examples", "format", "title", "deprecated", "readOnly", "writeOnly",
        "contentEncoding", "contentMediaType",
    ]

    private let rules: [Rule]
    private let library: Library

    /// - Throws: ``Unsupported``.
    init(_ schema: JSONValue, _ library: Library) throws(Unsupported) {
        self.library = library
        switch schema {
        case .bool(let isAdmitted): rules = isAdmitted ? [] : [Rule("is not documented") { _ in false }]
        case .object(let keywords): rules = try Self.rules(keywords, library)
        default: throw Unsupported(keyword: "schema")
        }
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
    func check(_ value: JSONValue, upTo most: Int, into found: inout [Remark]) {
        for rule in rules {
            guard found.count < most else { return }
            let count = found.count
            rule.check(value, most, &found)
            if rule.endsOnMismatch, found.count > count { return }
        }
    }

    func check(
        _ part: JSONValue, called name: @autoclosure () -> String, upTo most: Int, into found: inout [Remark]
    ) {
        let count = found.count
        check(part, upTo: most, into: &found)
        for index in count..<found.count { found[index] = found[index].inside(name()) }
    }
}
