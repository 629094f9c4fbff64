import HummingbirdCore
import ScribeDomain
import ScribeHTTP

/// Values of a query, read by the table of parameters.
struct ListenValues: Sendable {
    private let query: FlatDictionary<Substring, Substring>

    init(_ query: FlatDictionary<Substring, Substring>) { self.query = query }

    /// Whether the query has a name, with a value.
    func has(_ name: String) -> Bool { query.text(name) != nil }

    /// The value under its name or an alias; nil if absent or empty.
    func text(_ parameter: ListenParameter) -> String? {
        query.text(parameter.name) ?? parameter.aliases.lazy.compactMap { query.text($0) }.first
    }

    func list(_ parameter: ListenParameter) -> [Substring] { query[values: parameter.name[...]] }

    /// - Throws: ``ScribeError/invalidRequest(field:problem:)`` unless the value is `true` or `false`, in any case: SDK
    ///   6 writes `True`.
    func flag(_ parameter: ListenParameter) throws(ScribeError) -> Bool? {
        switch text(parameter)?.lowercased() {
        case nil: return nil
        case "true": return true
        case "false": return false
        default: throw .invalidRequest(field: parameter.name, problem: "must be true or false")
        }
    }

    /// - Throws: ``ScribeError/invalidRequest(field:problem:)`` for another value than the table allows.
    func integer(_ parameter: ListenParameter) throws(ScribeError) -> Int? {
        guard case .integer(let range) = parameter.form, query.text(parameter.name) != nil else { return nil }
        return try query.integer(parameter.name, in: range)
    }
}
