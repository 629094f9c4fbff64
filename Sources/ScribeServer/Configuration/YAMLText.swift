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
            guard let node = try Yams.compose(yaml: String(decoding: data, as: UTF8.self)) else { return nil }
            var left = most
            // Some hundred bytes of nested aliases stand for billions of values.
            guard isCounted(node, &left) else { throw Mistake(description: "it has more than \(most) values") }
            return node
        } catch {
            throw error as? Mistake ?? Mistake(description: words(for: error))
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
