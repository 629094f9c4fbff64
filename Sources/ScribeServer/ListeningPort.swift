import Foundation
import Hummingbird
import NIOCore
import NIOPosix
package import ServiceLifecycle

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// Service that runs an application on a port. Its errors name the address and the flag of the port.
package struct ListeningPort<Application: Service>: Service, CustomStringConvertible {
    private let application: Application
    private let host: String
    private let port: Int
    private let flag: String

    /// - Parameter flag: The flag that chooses the port, for errors.
    package init(_ application: Application, host: String, port: Int, flag: String) {
        self.application = application
        self.host = host
        self.port = port
        self.flag = flag
    }

    /// A short name for the log of the service group, which would otherwise print all properties, secrets included.
    package var description: String { "scribe-emulator on \(flag) \(port)" }

    /// Runs the application until it ends.
    /// - Throws: ``StartupProblem`` if the port cannot be opened; otherwise the application's error.
    package func run() async throws {
        do {
            try await application.run()
        } catch {
            throw StartupProblem(error, host: host, port: port, flag: flag) ?? error
        }
    }
}

extension Configuration {
    /// Checks that the ports can be opened. It runs before any service starts, since running services would have to be
    /// cancelled.
    /// - Throws: ``StartupProblem``.
    package func requirePorts() async throws {
        if tls.isOn, tls.port == port, port != 0 { throw StartupProblem.samePort(port) }
        try await Self.requirePort(port, of: host, flag: "--port")
        if tls.isOn { try await Self.requirePort(tls.port, of: host, flag: "--tls-port") }
    }

    private static func requirePort(_ port: Int, of host: String, flag: String) async throws {
        do {
            try await NIOThreadPool.singleton.runIfActive {
                try bindOnce(SocketAddress.makeAddressResolvingHost(host, port: port))
            }
        } catch {
            throw StartupProblem(error, host: host, port: port, flag: flag) ?? error
        }
    }

    /// Binds an address and releases it at once. No client can connect meanwhile, since the socket does not listen.
    /// Blocking.
    private static func bindOnce(_ address: SocketAddress) throws {
        #if canImport(Glibc)
            let type = Int32(SOCK_STREAM.rawValue)
        #else
            let type = SOCK_STREAM
        #endif
        let file = socket(Int32(address.protocol.rawValue), type, 0)
        guard file >= 0 else { throw IOError(errnoCode: errno, reason: "socket") }
        defer { close(file) }
        // As the server does: without it, connections that have just ended would keep the port.
        var isReused: Int32 = 1
        setsockopt(file, SOL_SOCKET, SO_REUSEADDR, &isReused, socklen_t(MemoryLayout<Int32>.size))
        let result = address.withSockAddr { bind(file, $0, socklen_t($1)) }
        guard result == 0 else { throw IOError(errnoCode: errno, reason: "bind") }
    }
}
