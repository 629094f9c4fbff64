import ArgumentParser
import Foundation
import ScribeServer
import ServiceLifecycle
import UnixSignals

struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Start the server.",
        discussion: """
            You can also set every flag by an environment variable (SCRIBE_DATA_DIR for --data-dir) or in a YAML file \
            (data-dir: …). A flag wins over the environment, and the environment over the file.
            """
    )

    @OptionGroup var flags: SettingFlags

    @Flag(
        help: """
            Make a new signing key if the data folder has lost its key. What the old key signed becomes invalid.
            """)
    var newSigningKey = false

    @Option(
        help: ArgumentHelp(
            """
            Stop within a second after this process has ended, whatever has ended it. The server does not start without it.
            """,
            valueName: "pid"))
    var exitWithParent: String?

    func run() async throws {
        try await Self.run(flags.settings(), exitWithParent: exitWithParent, allowsNewSigningKey: newSigningKey)
    }

    /// Serves until a signal.
    /// - Throws: `ValidationError` for a wrong setting or process; `ExitCode`.
    static func run(_ settings: Settings, exitWithParent: String?, allowsNewSigningKey: Bool = false) async throws {
        let owner = try exitWithParent.map(OwnerProcess.init(argument:))
        let server = try ServerProcess(settings, allowsNewSigningKey: allowsNewSigningKey)
        let hangUp = HangUp.inherited
        // Until `HangUpSignals` handles SIGHUP, the signal must not end the process.
        if hangUp == .rereadsClients, Invocation.current.ownsProcess { signal(SIGHUP, SIG_IGN) }
        try await server.run(signals: [.sigterm, .sigint] + (hangUp == .stops ? [.sighup] : []), owner: owner) {
            parts in
            guard hangUp == .rereadsClients else { return [] }
            let signals = HangUpSignals(request: parts.clientsFileRequest)
            return [.init(service: NamedService("hang-up signals", signals))]
        }
    }
}
