import Yams

/// Messages for texts that are not YAML, with line and column. They never quote the text, which may hold secrets.
package enum YAMLMistake {
    /// The message for an error of Yams.
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
