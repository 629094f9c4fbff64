import Basics
import Journal
import Logging
import ScribeHTTP
import ScribeRuntime
import ScribeServer
import ServiceLifecycle

/// Server of one command: on a free port, and with its rows in memory, unless flags say otherwise.
struct OwnServer {
    private let server: ServerProcess
    private var configuration: Configuration { server.configuration }

    /// - Parameter keepsJournal: Whether the journal keeps what clients send, whatever the settings say.
    /// - Throws: `ValidationError` for settings that cannot be used.
    init(_ flags: SettingFlags, keepsJournal: Bool = false) throws {
        let given = flags.given
        var server = try ServerProcess(
            try flags.settings(), logLevel: given["log-level"] == nil ? .error : nil
        ) { configuration in
            if given["port"] == nil { configuration.port = 0 }
            if configuration.tls.isOn, given["tls-port"] == nil { configuration.tls.port = 0 }
            if given["data-dir"] == nil { configuration.isEphemeral = true }
            if keepsJournal { configuration.journalMode = .full }
            if configuration.authMode == .strict, configuration.adminToken == nil {
                configuration.adminToken = IdentifierSource.random.secret()
            }
        }
        // The variable and the YAML file name that of another server.
        if given["ready-file"] == nil { server.readyFile = nil }
        self.server = server
    }

    /// Runs work once the server is ready. The server stops when it ends.
    /// - Returns: The exit code of the work.
    func run(_ work: @escaping @Sendable (Banner, Configuration) async throws -> Int32) async throws -> Int32 {
        let (banners, ready) = AsyncStream.makeStream(of: Banner.self)
        let code = LockedValue<Int32>(1)
        let service = WorkService(banners: banners) { [configuration] banner in
            let result = try await work(banner, configuration)
            code.withLock { $0 = result }
        }
        try await server.run(
            signals: [],
            onReady: {
                ready.yield($0)
                ready.finish()
            },
            services: { _ in
                [
                    .init(
                        service: NamedService("work", service), successTerminationBehavior: .gracefullyShutdownGroup,
                        failureTerminationBehavior: .gracefullyShutdownGroup)
                ]
            })
        return code.withLock { $0 }
    }
}

private struct WorkService: Service {
    let banners: AsyncStream<Banner>
    let work: @Sendable (Banner) async throws -> Void

    func run() async throws {
        for await banner in banners { try await work(banner) }
    }
}
