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
            Every flag can also be set by an environment variable (--data-dir is SCRIBE_DATA_DIR) and in a YAML file \
            (data-dir: …). A flag wins over the environment, the environment over the file.
            """
    )

    @OptionGroup var flags: SettingFlags

    @Flag(
        help: """
            Start with a new signing key where the data folder's is missing; what the old one signed is refused.
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
        // A file that may grow no further is an error to answer, not an end to the process.
        signal(SIGXFSZ, SIG_IGN)
        // Nor is a log whose reader is gone.
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
        let hangUp = HangUp.wanted
        // Until somebody listens for it, it must not end the process.
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
        // A client that is slow to finish does not keep the process: 5 s are promised.
        group.maximumGracefulShutdownDuration = .seconds(3)
        group.maximumCancellationDuration = .seconds(1)
        do {
            try await ServiceGroup(configuration: group).run()
        } catch is CancellationError {
            // A transfer was cut off because its time to finish was over: an end like any other.
        }
    }

    /// What the server itself keeps open, with some to spare for uploads that are being written.
    private static let ownFiles = 200

    /// As many open files as the system lets this process have; returns how many.
    private static func raiseFileLimit() -> Int {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 1024 }
        limit.rlim_cur = min(limit.rlim_max, 65_536)
        _ = setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        return Int(limit.rlim_cur)
    }
}
