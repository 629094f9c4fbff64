import ArgumentParser
import Basics

/// Unknown command in the arguments, with the nearest one that exists. The parser itself only says that it did not
/// expect the word.
struct UnknownCommand: Hashable {
    let word: String
    /// The command with the most similar name.
    let nearest: String
    /// The program and the commands before the word, such as `scribe-emulator webhooks`.
    let command: String

    /// Looks for an unknown command. Nil if there is none.
    init?(in arguments: [String], of root: any ParsableCommand.Type) {
        var command: any ParsableCommand.Type = root
        var path = [root._commandName]
        for word in arguments {
            let verbs = command.configuration.subcommands
            guard !verbs.isEmpty, !word.hasPrefix("-") else { return nil }
            if path.count == 1, word == "help" { continue }
            guard let verb = verbs.first(where: { ([$0._commandName] + $0.configuration.aliases).contains(word) })
            else {
                self.word = word
                nearest = nearestName(
                    to: word, among: verbs.map { $0._commandName } + (path.count == 1 ? ["help"] : []))
                self.command = path.joined(separator: " ")
                return
            }
            command = verb
            path.append(word)
        }
        return nil
    }

    /// The program and the commands that its arguments begin with, such as `scribe-emulator webhooks list`.
    static func command(in arguments: [String], of root: any ParsableCommand.Type) -> String {
        var command: any ParsableCommand.Type = root
        var names = [root._commandName]
        for word in arguments {
            guard let verb = command.configuration.subcommands.first(where: { $0._commandName == word }) else { break }
            command = verb
            names.append(word)
        }
        return names.joined(separator: " ")
    }

    var error: ValidationError {
        ValidationError(
            "unknown command '\(word)'; did you mean '\(nearest)'? '\(command) --help' lists all")
    }
}
