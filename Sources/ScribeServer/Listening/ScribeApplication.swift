import Hummingbird
package import Logging
package import ScribeHTTP
package import ServiceLifecycle

/// A server: what answers its requests, its ports, and the services that run beside them.
package struct ScribeApplication: ApplicationProtocol {
    /// Layers that handle every request, from the outside in.
    package typealias Responder = NamespaceRouting<RequestLog<HostRule<CrossOrigin<FamilyResponder>>>>

    package let responder: Responder
    /// Services that run beside the ports.
    package let services: [any Service]
    /// In the order in which they stop, from the last.
    let ports: [any Service]
    package let logger: Logger

    /// The application as a service group takes it.
    package var named: NamedService { NamedService("scribe-emulator", self) }

    /// Runs services and ports until a graceful shutdown.
    /// - Throws: ``StartupProblem`` if a port cannot be opened; otherwise a service's error.
    package func run() async throws {
        try await ServiceGroup(configuration: .init(services: services + ports, logger: logger)).run()
    }
}
