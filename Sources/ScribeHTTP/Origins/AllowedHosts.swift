import Basics
import HTTPTypes
package import Hummingbird
import Logging
import ScribeDomain

/// Hosts by which a server without strict authentication may be requested.
///
/// A web page can point its own domain at this server (DNS rebinding). Its requests are then same-origin, and the
/// browser lets it read the answers. Such domains are not allowed.
package struct AllowedHosts: Sendable {
    /// Top-level domains of local networks, which cannot be registered (RFC 6761, RFC 8375, ICANN's `internal`).
    private static let privateDomains = ["localhost", "local", "internal", "test", "lan", "home.arpa"]
    /// Most remembered allowed hosts.
    private static let maxKnown = 256

    private let names: Set<String>
    private let domains: [String]
    /// Allowed hosts of earlier requests, as spelled there.
    private let known = LockedValue<Set<String>>([])

    /// - Parameter names: Further allowed hosts; `*.scribe.example` allows every subdomain.
    package init(_ names: [String]) {
        let names = names.map { $0.lowercased() }
        self.names = Set(names)
        domains = Self.privateDomains + names.filter { $0.hasPrefix("*.") }.map { String($0.dropFirst(2)) }
    }

    /// Whether a host is allowed.
    /// - Parameter authority: Host with an optional port. Browsers always send it, so that an empty one is allowed.
    package func contains(_ authority: String) -> Bool {
        if authority.isEmpty || known.withLock({ $0.contains(authority) }) { return true }
        guard let host = HostAndPort(authority), isAllowed(host) else { return false }
        known.withLock { if $0.count < Self.maxKnown { $0.insert(authority) } }
        return true
    }

    private func isAllowed(_ place: HostAndPort) -> Bool {
        let host = place.host
        if place.isAddress || !host.utf8.contains(UInt8(ascii: ".")) || names.contains(host) { return true }
        return domains.contains { host.hasSuffix(".\($0)") || host == $0 }
            || AudioLocation.bucket(ofVirtualHost: host) != nil
    }
}

/// Refuses requests for hosts that are not allowed.
package struct HostRule<Next: HTTPResponder>: HTTPResponder where Next.Context == ScribeContext {
    private let next: Next
    private let allowed: AllowedHosts?
    private let exempt: [String]

    /// - Parameters:
    ///   - allowed: nil to allow every host, in strict mode.
    ///   - exempt: First path components of routes with their own rule.
    package init(next: Next, allowed: AllowedHosts?, exempt: [String]) {
        self.next = next
        self.allowed = allowed
        self.exempt = exempt
    }

    package func respond(to request: Request, context: ScribeContext) async throws -> Response {
        guard let allowed, !allowed.contains(request.authority), !exempt.contains(where: RequestAddress(request).begins)
        else {
            return try await next.respond(to: request, context: context)
        }
        context.coreContext.endpointPath.value = "unknown host"
        context.logger.notice(
            "asked under a host that is not known; if it is yours, name it with --allowed-hosts",
            metadata: ["host": "\(HostAndPort(request.authority)?.host ?? "-")"])
        let text = "This server is not known under that host. If it is yours, name it with --allowed-hosts.\n"
        return Response(
            status: .misdirectedRequest, headers: [.contentType: "text/plain; charset=utf-8"],
            body: .init(byteBuffer: .init(string: text)))
    }
}
