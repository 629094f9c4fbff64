import Basics
import Certificates
import Connections
import Console
import Control
import DataFolder
import Hummingbird
import HummingbirdCore
import Journal
import Logging
import NIOPosix
import NIOSSL
import ScribeHTTP
import ScribeRuntime
import ScribeStore
import ServiceLifecycle
import Status

/// Network side of a server: its ports, TLS, and the limits of connections.
package struct Listener: Sendable {
    /// Open ports of a server.
    package struct Ports: Hashable, Sendable {
        package let plain: Int
        /// Port for TLS; nil without TLS.
        package let tls: Int?
    }

    private let configuration: Configuration
    private let certificate: ServedCertificate?

    /// Reads or makes the certificate if TLS is on.
    /// - Throws: ``StartupProblem``.
    package init(_ configuration: Configuration, _ parts: Emulator.Parts) async throws {
        if configuration.authMode != .strict, !configuration.isLoopback,
            !configuration.allowsUnverifiedTokensFromNetwork
        {
            throw StartupProblem.unverifiedTokensFromNetwork(
                host: configuration.host, mode: configuration.authMode)
        }
        self.configuration = configuration
        guard configuration.tls.isOn else {
            certificate = nil
            return
        }
        do {
            certificate = try await ServedCertificate(
                configuration.certificateSource(parts.identifiers), clock: parts.clock, threads: .singleton,
                logger: parts.logger)
        } catch let problem as CertificateProblem {
            throw StartupProblem.unusableCertificate(problem)
        }
    }

    /// The development authority that clients must trust, as PEM; nil without TLS, or for the user's own certificate.
    var authority: String? { certificate?.authority }

    /// Makes the application that serves a world on all ports.
    /// - Parameter onReady: Called once the server accepts connections on all its ports.
    func application(
        for emulator: Emulator, _ directory: WorldDirectory, services worldServices: [any Service],
        onReady: @escaping @Sendable (Ports) async throws -> Void
    ) -> ScribeApplication {
        let logger = emulator.parts.logger
        let metrics = emulator.metrics
        let mode = configuration.usedJournal.mode
        // Operators' routes have rules of their own.
        let hidden = [ControlFamily.root, ConsoleFamily.root]
        let journal =
            mode == .off
            ? nil
            : RequestJournal(
                directory: directory, mode: mode, clock: emulator.parts.clock, hidden: hidden.map { "/\($0)" })
        let responder = NamespaceRouting(
            next: RequestLog(
                next: HostRule(
                    next: CrossOrigin(
                        next: FamilyResponder(
                            families: emulator.families, directory: directory, memory: emulator.memory,
                            faults: emulator.faultSettings, acceptsGzip: configuration.acceptsGzip,
                            contractMode: configuration.usedContractMode),
                        allowed: configuration.webOrigins, hidden: hidden),
                    allowed: configuration.hosts, exempt: hidden),
                metrics: metrics, clock: emulator.parts.clock, logger: logger, quiet: StatusFamily.probes,
                refusals: configuration.explainsRefusals ? RefusalLog(families: emulator.families) : nil,
                journal: journal),
            directory: directory)
        let hosts = configuration.addresses ?? [configuration.host]
        let ready = OpenedPorts(count: hosts.count * (certificate == nil ? 1 : 2)) {
            [tlsPort = emulator.composition.tlsPort] ports in
            tlsPort.withLock { $0 = ports.tls }
            do {
                try await onReady(ports)
            } catch {
                logger.error("the server is ready, and nobody could be told", metadata: ["error": "\(error)"])
            }
        }
        let respond = Answering(with: responder, clock: emulator.parts.clock, logger: logger).callAsFunction
        let limits = configuration.connectionLimits
        let connectionLimit = configuration.connectionLimit
        func ports(_ port: Int, _ flag: String, _ channels: any ServerChildChannel) -> [ListeningPort] {
            hosts.map { host in
                let server = ServerConfiguration(
                    address: .hostname(host, port: port),
                    availableConnectionsDelegate: .maximum(connectionLimit, logger: logger))
                return ListeningPort(
                    server: channels.server(
                        configuration: server,
                        onServerRunning: { await ready.add($0.localAddress?.port ?? port, isSecure: flag != "--port") },
                        eventLoopGroup: MultiThreadedEventLoopGroup.singleton, logger: logger),
                    host: host, port: port, flag: flag, started: emulator.started)
            }
        }
        var services = worldServices.map(NamedService.init(of:))
        var listening: [ListeningPort] = []
        if let certificate {
            services.append(NamedService(of: certificate))
            let channels = SecureChannel(
                limits: limits, streamLimit: connectionLimit, memory: emulator.memory, connections: metrics,
                logger: logger, encryption: { certificate.context }, respond: respond)
            listening += ports(configuration.tls.port, "--tls-port", channels)
        }
        let channels = PlainChannel(limits: limits, connections: metrics, logger: logger, respond: respond)
        listening += ports(configuration.port, "--port", channels)
        return ScribeApplication(
            responder: responder, services: services, ports: listening.map(\.named), logger: logger)
    }
}

/// Collects the open ports, and calls back once all of them are open.
private actor OpenedPorts {
    private var missing: Int
    private let onReady: @Sendable (Listener.Ports) async -> Void
    private var plain: Int?
    private var secure: Int?

    init(count: Int, onReady: @escaping @Sendable (Listener.Ports) async -> Void) {
        missing = count
        self.onReady = onReady
    }

    func add(_ port: Int, isSecure: Bool) async {
        if isSecure { secure = port } else { plain = port }
        missing -= 1
        guard missing == 0, let plain else { return }
        await onReady(Listener.Ports(plain: plain, tls: secure))
    }
}

/// Builds a server: opens the data folder, composes the emulator and seeds its default world.
///
/// - Parameter onReady: Called once the server accepts connections on all its ports.
/// - Throws: ``StartupProblem``, `DataFolder.Problem`, `Store.Problem`.
package func buildApplication(
    _ configuration: Configuration, _ parts: Emulator.Parts,
    onReady: @escaping @Sendable (Listener.Ports) async throws -> Void = { _ in }
) async throws -> ScribeApplication {
    // Checked before the listener makes the folder of its certificates, which may be in the data folder.
    try await NIOThreadPool.singleton.runIfActive {
        try DataFolder.requireOurs(path: configuration.dataFolder, tolerating: configuration.namesBeforeFirstStart)
    }
    let listener = try await Listener(configuration, parts)
    let (emulator, directory, services) = try await open(configuration, parts, authority: listener.authority)
    return listener.application(for: emulator, directory, services: services, onReady: onReady)
}
