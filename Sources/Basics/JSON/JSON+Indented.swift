extension JSON {
    /// JSON text with one member or element in a line, for people.
    package var indented: String { indented(by: "") }

    private func indented(by space: String) -> String {
        func block(_ lines: [String], _ begin: String, _ end: String) -> String {
            lines.isEmpty ? begin + end : "\(begin)\n\(lines.joined(separator: ",\n"))\n\(space)\(end)"
        }
        let inner = space + "  "
        return switch self {
        case .object(let members):
            block(
                members.map { "\(inner)\(JSON.string($0.name).text): \($0.value.indented(by: inner))" }, "{", "}")
        case .array(let values): block(values.map { inner + $0.indented(by: inner) }, "[", "]")
        case .value(.object(let members)) where !members.isEmpty:
            JSON.object(members.sorted { $0.key < $1.key }.map { ($0.key, .value($0.value)) }).indented(by: space)
        case .value(.array(let values)) where !values.isEmpty: JSON.array(values, JSON.value).indented(by: space)
        case .null, .bool, .integer, .number, .string, .value: text
        }
    }

    private var text: String { String(decoding: bytes, as: UTF8.self) }
}
