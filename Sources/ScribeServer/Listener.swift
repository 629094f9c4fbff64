import Control
package import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import ScribeDomain
import ScribeHTTP

/// Where clients reach a backend: an address, and what a connection may take there.
package struct Listener: Sendable {
    private let configuration: Configuration

    /// - Throws: ``StartupProblem/unverifiedTokensFromNetwork(host:mode:)``.
    package init(_ configuration: Configuration) throws {
        if configuration.authMode != .strict, !configuration.isLoopback,
            !configuration.allowsUnverifiedTokensFromNetwork
        {
            throw StartupProblem.unverifiedTokensFromNetwork(
                host: configuration.host, mode: configuration.authMode)
        }
        self.configuration = configuration
    }

    /// What every request goes through, from the outside in.
    typealias Responder = RequestLog<CrossOrigin<FamilyResponder>>

    /// - Parameter onReady: called with the port when the server accepts connections.
    func application(
        for backend: Backend, _ parts: Backend.Parts, onReady: @escaping @Sendable (Int) async throws -> Void
    ) -> Application<Responder> {
        let logger = parts.logger
        return Application(
            responder: RequestLog(
                next: CrossOrigin(
                    next: FamilyResponder(families: backend.families, bodies: backend.bodies),
                    allowed: allowedOrigins(backend), hidden: ControlFamily.root),
                metrics: backend.metrics, clock: parts.clock),
            server: HTTPServerBuilder { [channel = channel(backend)] responder in
                EventLoopChannel(base: HTTP1Channel(responder: responder, configuration: channel))
            },
            configuration: ApplicationConfiguration(
                address: .hostname(configuration.host, port: configuration.port),
                serverName: "scribe-emulator/\(ScribeVersion.current)",
                availableConnectionsDelegate: .maximum(configuration.connectionLimit, logger: logger)
            ),
            services: backend.services,
            onServerRunning: { [configuration] channel in
                do {
                    try await onReady(channel.localAddress?.port ?? configuration.port)
                } catch {
                    logger.error("the server is ready, and nobody could be told", metadata: ["error": "\(error)"])
                }
            },
            logger: logger
        )
    }

    private func channel(_ backend: Backend) -> HTTP1Channel.Configuration {
        let limits = configuration.connectionLimits
        return HTTP1Channel.Configuration(
            additionalChannelHandlers: [ConnectionGuardInstaller(limits: limits, metrics: backend.metrics)],
            idleTimeout: TimeAmount(limits.idleTime),
            httpDecoderConfiguration: .init(
                maxHeaderFieldSize: limits.headSize, maxHeaderListSize: limits.headSize,
                maxHeaderFieldCount: limits.fieldCount
            )
        )
    }

    private func allowedOrigins(_ backend: Backend) -> AllowedOrigins {
        if let list = configuration.allowedOrigins {
            return list.contains("*") ? .any : .listed(Set(list.map { $0.lowercased() }))
        }
        return configuration.authMode == .strict ? .listed([]) : .trusted(hostSuffixes: backend.hostSuffixes)
    }
}

/// One server: a backend, and the address where it is reached.
///
/// - Parameter onReady: called with the port when the server accepts connections.
/// - Throws: ``StartupProblem``, `DataFolder.Problem`, `Store.Problem`.
package func buildApplication(
    _ configuration: Configuration, _ parts: Backend.Parts,
    onReady: @escaping @Sendable (Int) async throws -> Void = { _ in }
) async throws -> some ApplicationProtocol {
    let listener = try Listener(configuration)
    return listener.application(for: try await Backend(configuration, parts), parts, onReady: onReady)
}
