import ArgumentParser
import ScribeServer

@main
struct Main: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "scribe-emulator",
        abstract: "A backend that behaves like the cloud behind medical-scribe SDKs.",
        version: ScribeVersion.withBuild,
        subcommands: [
            Serve.self, ConfigCommand.self, Ready.self, Env.self, Trust.self, Hosts.self, Doctor.self, NoteCommand.self,
            WebhookCommands.self, TriggerCommand.self, NamespaceCommands.self, ResetCommand.self,
            SnapshotCommands.self, SeedCommand.self, ClockCommands.self, FaultCommands.self, RequestCommands.self,
            Exec.self,
            BackupCommand.self,
            RestoreCommand.self, MoveCommand.self, Version.self,
        ]
    )

    static func main() async {
        let arguments = Array(CommandLine.arguments.dropFirst())
        if let problem = UnknownCommand(in: arguments, of: Main.self) {
            StandardError.write("Error: \(problem.error.message)")
            exit(withError: ExitCode.usage)
        }
        if let option = optionOfServe(in: arguments) {
            StandardError.write("Error: '\(option)' is an option of serve: scribe-emulator serve \(option) …")
            exit(withError: ExitCode.usage)
        }
        do {
            var command = try await asyncParseAsRoot(arguments)
            do {
                if var asyncCommand = command as? any AsyncParsableCommand {
                    try await asyncCommand.run()
                } else {
                    try command.run()
                }
            } catch let error as ValidationError {
                // The parser itself would name the help of the root command.
                let command = UnknownCommand.command(in: arguments, of: Main.self)
                StandardError.write("Error: \(error.message)\n  See '\(command) --help' for more information.")
                throw ExitCode.usage
            }
        } catch {
            let code = exitCode(for: error)
            guard code == .validationFailure else { exit(withError: error) }
            StandardError.write(fullMessage(for: error))
            exit(withError: ExitCode.usage)
        }
    }

    /// An option of `serve` that stands before the command, without its value. Nil if there is none.
    private static func optionOfServe(in arguments: [String]) -> String? {
        guard let word = arguments.first, word.hasPrefix("--") else { return nil }
        let name = String(word.dropFirst(2).prefix { $0 != "=" })
        return Setting.all.map(\.name).contains(name) ? "--\(name)" : nil
    }
}

struct Version: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print the version, its commit and its date.")

    func run() { print(ScribeVersion.withBuild) }
}
