import ArgumentParser
import Basics
import Certificates
import Foundation
import Journal
import Logging
import ScribeDomain
import ScribeHTTP
import ScribeRuntime
import ScribeServer
import ScribeStore
import ServiceLifecycle

struct Exec: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "exec",
        abstract: "Run a command with a server of its own, and exit with its code.",
        discussion: """
            The server listens on a free port, and keeps its rows in memory unless --data-dir names a folder. With --ns \
            the command gets a namespace of the running server instead. The command finds the URL and the credentials \
            in the variables that env prints: SCRIBE_BASE_URL, SCRIBE_CLIENT_ID, SCRIBE_CLIENT_SECRET and so on.
              scribe-emulator exec -- npm test
            """
    )

    @Flag(help: "Create a namespace in the running server for the command, and delete it afterwards.")
    var ns = false

    @Option(help: "The base URL of the running server, with --ns.")
    var url: String?

    @Option(
        help: ArgumentHelp(
            """
            Write a snapshot to this file if the command fails, and its requests to FILE.har. They may hold what patients \
            have said.
            """,
            valueName: "path"),
        completion: .file(), transform: Setting.path)
    var exportOnFailure: String?

    @Flag(help: "Print what the command's clients did wrong, and exit with 1 if there is an error: see lint.")
    var lint = false

    @OptionGroup var flags: SettingFlags

    @Argument(parsing: .postTerminator, help: "The command with its arguments, after --.")
    var command: [String]

    /// Flags of the server that also find a running one.
    private static let ofRunningServer: Set<String> = ["data-dir", "admin-token", "ready-file"]

    func validate() throws {
        guard !command.isEmpty else { throw ValidationError("name a command after --, such as: exec -- npm test") }
        if lint, let mode = flags.given["journal"], mode != JournalMode.full.rawValue {
            throw ValidationError("--lint needs what clients sent: leave out --journal \(mode)")
        }
        if ns {
            for name in flags.given.keys.sorted() where !Self.ofRunningServer.contains(name) {
                throw ValidationError("--ns uses the running server; leave out --\(name)")
            }
        } else if url != nil {
            throw ValidationError("--url names the running server for --ns; add --ns, or leave out --url")
        }
        for file in exportOnFailure.map({ [$0, Self.archive($0)] }) ?? []
        where FileManager.default.fileExists(atPath: file) {
            throw ValidationError("--export-on-failure: \(file) exists; name another file, or remove it")
        }
    }

    func run() async throws {
        let code = ns ? try await runInNamespace() : try await runWithServer()
        if code != 0 { throw ExitCode(code) }
    }

    // MARK: A namespace of the running server

    private func runInNamespace() async throws -> Int32 {
        let client = try runningServer()
        let made: CreatedNamespace = try await client.send("POST", "namespaces", [:])
        var own = client
        own.namespace = NamespaceName(made.name)
        let result: Result<Int32, any Error> = await outcome {
            let code = try await ChildCommand(arguments: command, environment: Self.variables(made)).explained()
            if code != 0 { try await export(from: own) }
            return try await linted(code, own)
        }
        _ = try? await client.answer("DELETE", "namespaces/\(made.name)")
        return try result.get()
    }

    private func runningServer() throws -> ControlClient {
        var target = TargetOptions()
        (target.url, target.readyFile, target.config) = (url, flags.given["ready-file"], flags.config)
        var control = ControlOptions()
        control.target = target
        (control.dataDir, control.adminToken) = (flags.given["data-dir"], flags.given["admin-token"])
        return try control.client().ofServer
    }

    private static func variables(_ made: CreatedNamespace) -> [String: String] {
        [
            "SCRIBE_BASE_URL": made.url, "SCRIBE_CLIENT_ID": made.clientId,
            "SCRIBE_CLIENT_SECRET": made.clientSecret, "SCRIBE_API_KEY": made.apiKey,
            "SCRIBE_API_KEY_HEX": made.apiKeyHex,
            "SCRIBE_LISTEN_URL": Env.socketURL(made.url), "SCRIBE_READY_FILE": "",
        ]
    }

    // MARK: A server of its own

    private func runWithServer() async throws -> Int32 {
        try await OwnServer(flags, keepsJournal: lint).run { banner, configuration in
            let variables = try await Self.variables(banner, configuration)
            let result = try await ChildCommand(arguments: command, environment: variables).explained()
            if result != 0 {
                try await export(from: ControlClient(baseURL: banner.baseURL, token: configuration.adminToken))
            }
            return try await linted(
                result, ControlClient(baseURL: banner.baseURL, token: configuration.adminToken))
        }
    }

    /// Writes the findings to standard error.
    /// - Parameter code: exit code of the command.
    /// - Returns: the same code; 1 for a command that succeeded, if there is an error.
    private func linted(_ code: Int32, _ client: ControlClient) async throws -> Int32 {
        guard lint else { return code }
        do {
            let report: LintReport = try client.read(try await LintReport.read(client))
            StandardError.write(report.text)
            return code == 0 && report.errors > 0 ? 1 : code
        } catch let problem as ExitCode {
            // The reason is on standard error; the code is the command's.
            return code == 0 ? problem.rawValue : code
        }
    }

    private static func variables(_ banner: Banner, _ configuration: Configuration) async throws -> [String: String] {
        // Verbs in the command ask this server, and not that of an inherited ready file.
        var variables = [
            "SCRIBE_BASE_URL": banner.baseURL, "SCRIBE_LISTEN_URL": Env.socketURL(banner.baseURL),
            "SCRIBE_READY_FILE": "",
        ]
        if let demo = DemoCredentials.shown(for: configuration) {
            variables["SCRIBE_CLIENT_ID"] = demo.clientID
            variables["SCRIBE_CLIENT_SECRET"] = demo.clientSecret
            variables["SCRIBE_API_KEY"] = demo.apiKey
            variables["SCRIBE_API_KEY_HEX"] = demo.hexKey
        }
        variables["SCRIBE_TLS_URL"] = banner.tlsURL
        if configuration.authMode == .strict { variables["SCRIBE_ADMIN_TOKEN"] = configuration.adminToken }
        if configuration.tls.isOn, configuration.tls.certificate == nil {
            variables["SCRIBE_CA_FILE"] = configuration.developmentCertificates(.random).authorityPath
        }
        return variables
    }

    /// Path of the requests of a failed command, beside its snapshot.
    private static func archive(_ file: String) -> String { "\(file).har" }

    private func export(from client: ControlClient) async throws {
        guard let file = exportOnFailure else { return }
        do {
            let size = try await ExportSnapshot.write(file, of: nil, from: client)
            StandardError.write("scribe-emulator: the state is in \(file), \(size) bytes")
            guard try await client.keepsJournal() else { return }
            try await client.download("requests/export", to: Self.archive(file))
            StandardError.write("scribe-emulator: the requests are in \(Self.archive(file))")
        } catch is ExitCode {
            // The reason is on standard error; the code is the command's.
        }
    }
}

extension ChildCommand {
    /// Runs the command; one that cannot be started is told, with the exit code of a shell.
    fileprivate func explained() async throws -> Int32 {
        do {
            return try await run()
        } catch let problem as ChildProcess.Unusable {
            StandardError.write("scribe-emulator: \(problem)")
            return problem.code == ENOENT ? 127 : 126
        }
    }
}
