package import Basics
package import Foundation
package import Yams

/// Reader of YAML files. Its messages never quote the text, which may hold secrets.
package enum YAMLText {
    /// Most values of a file, where each use of an alias counts like the text that it repeats.
    private static let most = 200_000

    /// A text that cannot be read. The description gives the reason, with line and column.
    package struct Mistake: Error, CustomStringConvertible {
        package let description: String
    }

    /// Parses a file.
    /// - Returns: nil for a file without a value.
    package static func node(of data: Data) throws(Mistake) -> Node? {
        do {
            // Without tags: each would be found by regular expressions, and the readers do not look at them.
            guard let node = try Yams.compose(yaml: String(decoding: data, as: UTF8.self), .basic) else { return nil }
            var left = most
            // Some hundred bytes of nested aliases stand for billions of values.
            guard isCounted(node, &left) else { throw Mistake(description: "it has more than \(most) values") }
            return node
        } catch {
            throw error as? Mistake ?? Mistake(description: words(for: error))
        }
    }

    /// Parses a file of YAML or JSON as JSON.
    /// - Returns: null for a file without a value.
    package static func json(of data: Data) throws(Mistake) -> JSONValue {
        try node(of: data).map(value) ?? .null
    }

    private static func value(of node: Node) -> JSONValue {
        switch node {
        case .mapping(let mapping):
            .object(
                Dictionary(
                    mapping.map { ($0.key.string ?? "", value(of: $0.value)) }, uniquingKeysWith: { first, _ in first })
            )
        case .sequence(let sequence): .array(sequence.map(value))
        case .alias, .scalar: scalar(node)
        }
    }

    /// A plain scalar as YAML resolves it; a quoted one is a text.
    private static func scalar(_ node: Node) -> JSONValue {
        guard let scalar = node.scalar, scalar.style == .plain || scalar.style == .any else {
            return .string(node.string ?? "")
        }
        if let number = Int64(scalar.string) { return .integer(number) }
        if scalar.string.wholeMatch(of: /-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?/) != nil,
            let number = Double(scalar.string)
        {
            return .number(number)
        }
        switch scalar.string {
        case "true": return .bool(true)
        case "false": return .bool(false)
        case "null", "~", "": return .null
        case let text: return .string(text)
        }
    }

    private static func isCounted(_ node: Node, _ left: inout Int) -> Bool {
        left -= 1
        guard left > 0 else { return false }
        return switch node {
        case .mapping(let mapping): mapping.allSatisfy { isCounted($0.key, &left) && isCounted($0.value, &left) }
        case .sequence(let sequence): sequence.allSatisfy { isCounted($0, &left) }
        case .alias, .scalar: true
        }
    }

    private static func words(for error: any Error) -> String {
        switch error as? YamlError {
        case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
            .composer(_, let problem, let mark, _):
            "line \(mark.line), column \(mark.column): \(problem)"
        case .reader(let problem, _, _, _): problem
        case .duplicatedKeysInMapping(let keys, _):
            "the key '\(keys.min() ?? "")' is there twice"
        default: "it cannot be read"
        }
    }
}
