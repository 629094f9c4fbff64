import Basics
import Connections
import Engines
import NIOCore
import NIOPosix
import Outbound
import ScribeHTTP
package import ServiceLifecycle

/// Service that runs the server of a port, and accepts its connections on an event loop: Swift's own threads may be
/// busy. Its errors name the address and the flag of the port.
struct ListeningPort: Service {
    let server: any Service
    let host: String
    let port: Int
    /// The flag that chooses the port, for errors.
    let flag: String
    /// Fires when the port may open.
    let started: OneShotSignal

    /// The port as a service group takes it.
    var named: NamedService { NamedService("scribe-emulator on \(flag) \(port)", self) }

    /// Serves until a graceful shutdown.
    /// - Throws: ``StartupProblem`` if the port cannot be opened; otherwise the server's error.
    func run() async throws {
        guard await mayOpen() else { return }
        do {
            try await withTaskExecutorPreference(EventLoopExecutor(MultiThreadedEventLoopGroup.singleton.any())) {
                try await server.run()
            }
        } catch {
            throw StartupProblem(error, host: host, port: port, flag: flag) ?? error
        }
    }

    /// Waits until the port may open.
    /// - Returns: false if the server stops before.
    private func mayOpen() async -> Bool {
        let (waiting, end) = AsyncStream<Void>.makeStream()
        await cancelWhenGracefulShutdown { [started] in
            await started.watched(by: { end.finish() }) { for await _ in waiting {} }
        }
        return started.hasFired
    }
}

/// Service with a name for the log of the service group. The group prints each of its services at the start, and to
/// print a value of one more type costs a search of all conformances.
package struct NamedService: Service, CustomStringConvertible {
    package let description: String
    private let service: any Service

    package init(_ name: String, _ service: any Service) {
        description = name
        self.service = service
    }

    /// Has the name of the service's type.
    init(of service: any Service) { self.init(_typeName(type(of: service), qualified: false), service) }

    package func run() async throws { try await service.run() }
}

/// A socket with a port of an address. It does not listen, and with `SO_REUSEADDR` it keeps the port from all sockets
/// but those of a server of the same address.
package final class BoundSocket: Sendable {
    package let address: String
    package let port: Int
    private let file: Int32

    /// Binds an address. Blocking.
    init(_ address: String, port: Int) throws {
        let socketAddress = try SocketAddress.makeAddressResolvingHost(address, port: port)
        let file = OperatingSystem.openStreamSocket(Int32(socketAddress.protocol.rawValue))
        guard file >= 0 else { throw IOError(errnoCode: errno, reason: "socket") }
        // As the server does: without it, connections that have just ended would keep the port.
        var isReused: Int32 = 1
        setsockopt(file, SOL_SOCKET, SO_REUSEADDR, &isReused, socklen_t(MemoryLayout<Int32>.size))
        var bound = sockaddr_storage()
        var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let result = withUnsafeMutablePointer(to: &bound) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { own in
                let result = socketAddress.withSockAddr { bind(file, $0, socklen_t($1)) }
                return result == 0 ? getsockname(file, own, &size) : result
            }
        }
        guard result == 0 else {
            let code = errno
            close(file)
            throw IOError(errnoCode: code, reason: "bind")
        }
        (self.file, self.address) = (file, address)
        // The port is at the same place in addresses of both kinds.
        self.port = withUnsafeBytes(of: bound) { Int($0[2]) << 8 | Int($0[3]) }
    }

    deinit { close(file) }
}

extension Configuration {
    /// Takes the ports on all addresses of the host. It runs before any service starts, since running services would
    /// have to be cancelled.
    /// - Returns: The configuration with the addresses and ports, and the sockets that hold the ports until the server
    ///   listens on them.
    /// - Throws: ``StartupProblem``.
    package func takingPorts() async throws -> (configuration: Configuration, sockets: [BoundSocket]) {
        if tls.isOn, tls.port == port, port != 0 { throw StartupProblem.samePort(port) }
        // A machine whose hosts file leaves one of them out has it nevertheless.
        let known = host == "localhost" ? ["127.0.0.1", "::1"] : []
        let addresses = try await NIOThreadPool.singleton.runIfActive { [host] in
            known + HostResolver.addresses(of: host).filter { !known.contains($0) }
        }
        guard !addresses.isEmpty else { throw StartupProblem.unknownHost(host) }
        var (taken, sockets) = (self, try await Self.take(port, of: addresses, host: host, flag: "--port"))
        (taken.port, taken.addresses) = (sockets[0].port, sockets.map(\.address))
        if tls.isOn {
            let secure = try await Self.take(tls.port, of: sockets.map(\.address), host: host, flag: "--tls-port")
            taken.tls.port = secure[0].port
            sockets += secure
        }
        return (taken, sockets)
    }

    private static func take(
        _ port: Int, of addresses: [String], host: String, flag: String
    ) async throws -> [BoundSocket] {
        do {
            return try await NIOThreadPool.singleton.runIfActive {
                // A port that is free on one address may be in use on the next.
                for _ in 0..<(port == 0 ? 20 : 0) {
                    if let sockets = try? bind(port, of: addresses) { return sockets }
                }
                return try bind(port, of: addresses)
            }
        } catch {
            throw StartupProblem(error, host: host, port: port, flag: flag) ?? error
        }
    }

    /// Binds one port on those of some addresses that this machine has. Blocking.
    private static func bind(_ port: Int, of addresses: [String]) throws -> [BoundSocket] {
        var sockets: [BoundSocket] = []
        for address in addresses {
            do {
                sockets.append(try BoundSocket(address, port: sockets.first?.port ?? port))
            } catch let error as IOError
                where [EADDRNOTAVAIL, EAFNOSUPPORT].contains(error.errnoCode)
                && (address != addresses.last || !sockets.isEmpty)
            {
                continue
            }
        }
        return sockets
    }
}
