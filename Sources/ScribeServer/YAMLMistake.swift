import Yams

/// Says what is wrong with a text that is not YAML, and where. The text itself is left out: it may hold secrets.
package enum YAMLMistake {
    /// - Parameter error: What Yams throws.
    package static func words(for error: any Error) -> String {
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
