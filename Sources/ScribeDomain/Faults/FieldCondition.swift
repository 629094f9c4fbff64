/// Condition on a header field, or on a parameter of the query.
package struct FieldCondition: Hashable, Sendable {
    package enum Place: String, CaseIterable, Sendable {
        case header, query
    }

    package let place: Place
    /// Name as the operator wrote it. Names of header fields are compared in lower case.
    package let name: String
    /// Pattern that one of the values must fit; nil if the field must be absent.
    package let pattern: Pattern?

    package init(_ place: Place, _ name: String, _ pattern: Pattern?) {
        self.place = place
        self.name = name
        self.pattern = pattern
    }

    /// Name of the condition in a rule or a call: `header`, `no_header`, `query` or `no_query`.
    package var member: String { pattern == nil ? "no_\(place.rawValue)" : place.rawValue }

    /// The condition's value as an operator writes it: `NAME`, `NAME: PATTERN` or `NAME=PATTERN`.
    package var text: String {
        guard let pattern else { return name }
        return switch place {
        case .header: "\(name): \(pattern.text)"
        case .query: "\(name)=\(pattern.text)"
        }
    }

    /// - Parameter values: Values of the field, one for each time that it is there.
    package func holds(for values: [String]) -> Bool {
        pattern.map { values.contains(where: $0.matches) } ?? values.isEmpty
    }
}
