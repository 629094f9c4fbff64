import ArgumentParser
import Basics
import DataFolder
import Foundation
import Logging
import NIOPosix
import ObjectStorage
import ScribeDomain
import ScribeRuntime
import ScribeServer
import ScribeStore
import ServiceLifecycle
import UnixSignals

/// A server in this process, for `serve` and `exec`.
struct ServerProcess {
    private let run: Setting.Run
    private let warnings: [String]
    private(set) var configuration: Configuration
    /// File that says that the server is ready; nil for none.
    var readyFile: ReadyFile?
    /// Lowest level of the log, unless the settings name one.
    private let logLevel: Logger.Level?

    /// - Parameters:
    ///   - change: changes the configuration that the settings make.
    ///   - logLevel: lowest level of the log in place of the settings' one; nil for the settings' one.
    /// - Throws: `ValidationError` for a setting that is wrong.
    init(
        _ settings: Settings, allowsNewSigningKey: Bool = false, logLevel: Logger.Level? = nil,
        change: (inout Configuration) -> Void = { _ in }
    ) throws {
        run = try settings.run()
        warnings = settings.warnings
        readyFile = run.readyFile.map(ReadyFile.init(path:))
        var configuration = run.configuration
        configuration.allowsNewSigningKey = allowsNewSigningKey
        configuration.shown = settings.entries.map(\.shown)
        change(&configuration)
        self.configuration = configuration
        self.logLevel = logLevel
    }

    /// Runs the server until a signal, or until one of the further services ends it.
    /// - Parameters:
    ///   - signals: signals that stop the server.
    ///   - owner: process whose end stops the server.
    ///   - onReady: called once the server accepts connections, in place of the banner; nil prints the banner.
    ///   - services: further services, which stop before the server.
    /// - Throws: `ExitCode`, after it wrote the reason to standard error; `ValidationError`.
    func run(
        signals: [UnixSignal], owner: OwnerProcess? = nil, onReady: (@Sendable (Banner) -> Void)? = nil,
        services: (Emulator.Parts) -> [ServiceGroupConfiguration.ServiceConfiguration]
    ) async throws {
        let invocation = Invocation.current
        if invocation.ownsProcess { Self.prepareProcess() }
        let format = run.logFormat ?? (isatty(STDERR_FILENO) == 1 ? .text : .json)
        let level = logLevel ?? run.logLevel
        let lines = LineLogHandler(format: format, clock: .system, logLevel: level) { _ in }
        let log = LogBuffer(pause: { usleep(2000) }, output: invocation.writeError) { lines.line(aboutDropped: $0) }
        let handler = LineLogHandler(format: format, clock: .system, logLevel: level, write: log.write)
        // For loggers of libraries.
        if invocation.ownsProcess { LoggingSystem.bootstrap { _ in handler } }
        let logger = Logger(label: "scribe-emulator") { _ in handler }
        owner?.endStopsThisProcess(logger)
        for warning in warnings { logger.warning("\(warning)") }
        do {
            try await run(configuration, signals: signals, owner: owner, logger: logger, onReady: onReady, services)
        } catch {
            await log.flush(by: .system)
            if error is ValidationError || error is ExitCode { throw error }
            let failure = (error as? FileSystem.Failure).map { DataFolder.Problem($0.code, at: $0.path) }
            let problem = usesTemporaryFolder ? error as? DataFolder.Problem ?? failure : nil
            throw ExitCode.explained(problem?.ofTemporaryFolder(Self.temporaryFolder) ?? "\(error)")
        }
        await log.flush(by: .system)
    }

    private func run(
        _ configuration: Configuration, signals: [UnixSignal], owner: OwnerProcess?, logger: Logger,
        onReady: (@Sendable (Banner) -> Void)?,
        _ services: (Emulator.Parts) -> [ServiceGroupConfiguration.ServiceConfiguration]
    ) async throws {
        var configuration = configuration
        var temporaryFolder: TemporaryDataFolder?
        configuration.shared = try Self.sharedPlace(run)
        if usesTemporaryFolder {
            let folder = try TemporaryDataFolder(in: Self.temporaryFolder, name: IdentifierSource.random.uuid())
            configuration.dataFolder = folder.path
            temporaryFolder = folder
        }
        defer { temporaryFolder?.remove() }
        try await readyFile?.claim()
        defer { readyFile?.remove() }
        try await serve(
            configuration, signals: signals, grace: owner == nil ? .seconds(3) : .milliseconds(300),
            logger: logger, onReady: onReady, services)
    }

    /// Whether the data are in a folder that the end removes, or on other servers.
    private var usesTemporaryFolder: Bool { configuration.isEphemeral || run.database != nil }

    /// Path of the folder for temporary files, which `TMPDIR` names.
    private static var temporaryFolder: String { FileManager.default.temporaryDirectory.path }

    /// Place of the data that several servers share; nil for data in a folder.
    private static func sharedPlace(_ run: Setting.Run) throws -> SharedPlace? {
        switch (run.database, run.objects) {
        case (nil, nil):
            guard run.role == .all else {
                throw ValidationError("--role needs --database and --objects: one server does all of its work")
            }
            return nil
        case (let database?, let objects?):
            guard let credentials = S3Address.Credentials(environment: Invocation.current.environment) else {
                throw ValidationError("--objects needs AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment")
            }
            return SharedPlace(database: database, objects: objects, credentials: credentials, role: run.role)
        default: throw ValidationError("--database and --objects go together: servers share rows and audio")
        }
    }

    private func serve(
        _ wanted: Configuration, signals: [UnixSignal], grace: Duration, logger: Logger,
        onReady: (@Sendable (Banner) -> Void)?,
        _ services: (Emulator.Parts) -> [ServiceGroupConfiguration.ServiceConfiguration]
    ) async throws {
        let (threads, temporary) = (NIOThreadPool.singleton, Self.temporaryFolder)
        let parts = Emulator.Parts(clock: .system, identifiers: .random, logger: logger)
        let (unwritten, readiness) = AsyncThrowingStream<Void, any Error>.makeStream()
        let taken = try await wanted.takingPorts()
        defer { withExtendedLifetime(taken.sockets) {} }
        let configuration = Self.withinFileLimit(taken.configuration)
        let application = try await buildApplication(
            configuration, parts,
            onReady: { ports in
                let banner = Banner(configuration: configuration, port: ports.plain, tlsPort: ports.tls)
                do {
                    try readyFile?.write(baseURL: banner.baseURL, tlsURL: banner.tlsURL)
                } catch {
                    return readiness.finish(throwing: error)
                }
                let ownsProcess = Invocation.current.ownsProcess
                Task {
                    _ = try? await threads.runIfActive {
                        if ownsProcess { OperatingSystem.releaseCode() }
                        TemporaryDataFolder.removeLeft(in: temporary)
                    }
                }
                if let onReady {
                    onReady(banner)
                } else if isatty(STDOUT_FILENO) == 1 {
                    print(banner.text)
                } else {
                    var metadata: Logger.Metadata = ["base_url": "\(banner.baseURL)"]
                    metadata["tls_url"] = banner.tlsURL.map { "\($0)" }
                    logger.info("ready", metadata: metadata)
                }
            }
        )
        let (ended, end) = AsyncThrowingStream<Void, any Error>.makeStream()
        // In a process of its own, work that ignores its cancellation must not delay the end: 5 s are documented.
        let last = Invocation.current.ownsProcess ? LastMoment(limit: grace + .seconds(1), end: end) : nil
        var group = ServiceGroupConfiguration(
            services: [
                .init(service: application.named),
                .init(service: NamedService("ready file", UnwrittenReadyFile(problems: unwritten))),
            ] + services(parts) + (last.map { [.init(service: NamedService("last moment", $0))] } ?? []),
            gracefulShutdownSignals: signals, logger: logger)
        group.maximumGracefulShutdownDuration = grace
        let running = Task { [group] in
            do {
                try await ServiceGroup(configuration: group).run()
                end.finish()
            } catch is CancellationError {
                // Transfers that took too long to finish were cut off. That is a normal end.
                end.finish()
            } catch {
                end.finish(throwing: error)
            }
        }
        try await withTaskCancellationHandler {
            try await shieldFromCancellation { for try await _ in ended {} }
        } onCancel: {
            running.cancel()
        }
    }

    /// Sets the allocator and the signals of a process that is a server.
    private static func prepareProcess() {
        OperatingSystem.tuneMemory()
        // At a file size limit, a write must fail with an error and not end the process.
        signal(SIGXFSZ, SIG_IGN)
        // A write to a log whose reader is gone must not end the process either.
        signal(SIGPIPE, SIG_IGN)
    }

    /// File descriptors that the server needs beside those of connections, with a reserve for open uploads.
    private static let ownFiles = 200

    /// The configuration with as many connections as there may be open files.
    private static func withinFileLimit(_ configuration: Configuration) -> Configuration {
        var configuration = configuration
        let files = fileLimit(isRaised: Invocation.current.ownsProcess) - ownFiles
        let ports = (configuration.tls.isOn ? 3 : 1) * (configuration.addresses?.count ?? 1)
        configuration.connectionLimit = max(16, min(configuration.connectionLimit, files / ports))
        return configuration
    }

    /// The limit of open files.
    /// - Parameter isRaised: whether to raise it first as far as the system allows, to at most 65,536.
    private static func fileLimit(isRaised: Bool) -> Int {
        guard var limit = OperatingSystem.fileLimit else { return 1024 }
        guard isRaised else { return Int(clamping: limit.rlim_cur) }
        limit.rlim_cur = min(limit.rlim_max, 65_536)
        OperatingSystem.setFileLimit(limit)
        return Int(limit.rlim_cur)
    }
}

/// Ends the wait for a server's end some time after its stop has begun. The group's own limit would trap.
private struct LastMoment: Service {
    let limit: Duration
    let end: AsyncThrowingStream<Void, any Error>.Continuation

    func run() async throws {
        try await gracefulShutdown()
        Task { [limit, end] in
            try? await WallClock.system.sleep(for: limit, as: .timeLimit)
            end.finish()
        }
    }
}
