import Basics
import Foundation
import NIOCore
import NIOPosix

/// Resolves host names with the system's resolver, on threads of its own. A lookup may block for 30 seconds.
/// The threads start with the first lookup, and a tenant uses at most two of them.
package final class HostResolver: Sendable {
    private let threads = NIOThreadPool(numberOfThreads: 16)
    private let slots = TenantSlots(count: 2)

    package init() {}

    deinit { threads.shutdownGracefully { _ in } }

    /// Looks up a host's addresses, in the resolver's order and without duplicates; empty for an unknown host.
    package func lookUp(_ host: String, for tenant: String = "") async throws -> [IPAddress] {
        try await slots.run(for: tenant) {
            threads.start()
            return try await threads.runIfActive { Self.addresses(of: host).compactMap(IPAddress.init) }
        }
    }

    /// The addresses of a host, by the resolver and the hosts file of this machine, without duplicates. Blocking.
    package static func addresses(of host: String) -> [String] {
        var hints = addrinfo()
        hints.ai_family = AF_UNSPEC
        hints.ai_socktype = OperatingSystem.streamSocket
        var first: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(host, nil, &hints, &first) == 0 else { return [] }
        defer { freeaddrinfo(first) }
        var addresses: [String] = []
        var next = first
        while let entry = next {
            next = entry.pointee.ai_next
            guard let pointer = entry.pointee.ai_addr, let address = address(pointer, entry.pointee.ai_addrlen),
                !addresses.contains(address)
            else { continue }
            addresses.append(address)
        }
        return addresses
    }

    private static func address(_ pointer: UnsafePointer<sockaddr>, _ size: socklen_t) -> String? {
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        guard getnameinfo(pointer, size, &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST) == 0 else { return nil }
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
