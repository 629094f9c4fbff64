import ArgumentParser
import ScribeServer

@main
struct Main: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "scribe-emulator",
        abstract: "A backend that behaves like the cloud behind medical-scribe SDKs.",
        version: ScribeVersion.withBuild,
        subcommands: [
            Serve.self, ConfigVerb.self, Ready.self, Env.self, Trust.self, Hosts.self, Doctor.self, NoteVerb.self,
            WebhookVerbs.self,
            BackupVerb.self,
            RestoreVerb.self, Version.self,
        ]
    )

    static func main() async {
        let arguments = Array(CommandLine.arguments.dropFirst())
        if let problem = UnknownVerb(in: arguments, of: Main.self) { exit(withError: problem.error) }
        await main(arguments)
    }
}

struct Version: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print the version, and the commit and date of its source.")

    func run() { print(ScribeVersion.withBuild) }
}
