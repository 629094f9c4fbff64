import ArgumentParser
import Foundation
import Logging
import ScribeDomain
import ScribeRuntime
import ScribeServer
import ServiceLifecycle
import UnixSignals

struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
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

    func run() async throws {
        let settings = try flags.settings()
        let run: Setting.Run
        do {
            run = try settings.run()
        } catch let problem as Settings.Problem {
            throw ValidationError(problem.description)
        }
        var configuration = run.configuration
        configuration.allowsNewSigningKey = newSigningKey
        Memory.tune()
        // At a file size limit, a write must fail with an error and not end the process.
        signal(SIGXFSZ, SIG_IGN)
        // The same for a write to a log whose reader is gone.
        signal(SIGPIPE, SIG_IGN)
        configuration.connectionLimit = max(
            16,
            min(
                configuration.connectionLimit,
                (Self.raiseFileLimit() - Self.ownFiles) / (configuration.tls.isOn ? 3 : 1)))
        let format = run.logFormat ?? (isatty(STDERR_FILENO) == 1 ? .text : .json)
        LoggingSystem.bootstrap { _ in LineLogHandler(format: format, clock: .system, level: run.logLevel) }
        let logger = Logger(label: "scribe-emulator")
        for warning in settings.warnings { logger.warning("\(warning)") }

        var temporaryFolder: URL?
        if configuration.isEphemeral {
            let folder = FileManager.default.temporaryDirectory
                .appendingPathComponent("scribe-emulator-\(IdentifierSource.random.uuid())")
            configuration.dataFolder = folder.path
            temporaryFolder = folder
        }
        configuration.sharedLease = ProcessInfo.processInfo.environment["SCRIBE_TEST_SHARED_LEASE"].flatMap(Double.init)
            .map(Duration.seconds)
        let readyFile = run.readyFile.map(ReadyFile.init(path:))
        if let problem = readyFile?.problem { throw ValidationError(problem) }
        readyFile?.remove()
        defer {
            readyFile?.remove()
            if let temporaryFolder { try? FileManager.default.removeItem(at: temporaryFolder) }
        }
        do {
            try await serve(configuration, readyFile: readyFile, logger: logger)
        } catch {
            StandardError.write("scribe-emulator: \(error)")
            throw ExitCode.failure
        }
    }

    private func serve(_ configuration: Configuration, readyFile: ReadyFile?, logger: Logger) async throws {
        let parts = Emulator.Parts(clock: .system, identifiers: .random, logger: logger)
        let hangUp = HangUp.inherited
        // Until `HangUpSignals` handles SIGHUP, the signal must not end the process.
        if hangUp == .rereadsClients { signal(SIGHUP, SIG_IGN) }
        try await configuration.requirePorts()
        let application = try await buildApplication(
            configuration, parts,
            onReady: { ports in
                let banner = Banner(configuration: configuration, port: ports.plain, tlsPort: ports.tls)
                try readyFile?.write(baseURL: banner.baseURL, tlsURL: banner.tlsURL)
                if isatty(STDOUT_FILENO) == 1 {
                    print(banner.text)
                } else {
                    var metadata: Logger.Metadata = ["base_url": "\(banner.baseURL)"]
                    metadata["tls_url"] = banner.tlsURL.map { "\($0)" }
                    logger.info("ready", metadata: metadata)
                }
            }
        )
        var services: [any Service] = [
            ListeningPort(application, host: configuration.host, port: configuration.port, flag: "--port")
        ]
        if hangUp == .rereadsClients { services.append(HangUpSignals(request: parts.clientsFileRequest)) }
        var group = ServiceGroupConfiguration(
            services: services,
            gracefulShutdownSignals: [.sigterm, .sigint] + (hangUp == .stops ? [.sighup] : []), logger: logger
        )
        // Slow clients must not delay the end of the process: 5 s are documented.
        group.maximumGracefulShutdownDuration = .seconds(3)
        group.maximumCancellationDuration = .seconds(1)
        do {
            try await ServiceGroup(configuration: group).run()
        } catch is CancellationError {
            // Transfers that took too long to finish were cut off. That is a normal end.
        }
    }

    /// File descriptors that the server needs beside those of connections, with a reserve for open uploads.
    private static let ownFiles = 200

    /// Raises the limit of open files as far as the system allows, to at most 65,536.
    /// - Returns: The limit.
    private static func raiseFileLimit() -> Int {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 1024 }
        limit.rlim_cur = min(limit.rlim_max, 65_536)
        _ = setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        return Int(limit.rlim_cur)
    }
}
