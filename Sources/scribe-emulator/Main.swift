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
            SocketCommands.self, LintCommand.self, Exec.self, DemoCommand.self, ClientCommands.self,
            BackupCommand.self, RestoreCommand.self, MoveCommand.self, Version.self,
        ]
    )

    static func main() async {
        let invocation = Invocation.process
        ProcessArguments.hideCredentials()
        exit(withError: await invocation.run())
    }
}

struct Version: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "version",
        abstract: "Print the version, its commit and its date.")

    func run() { print(ScribeVersion.withBuild) }
}
