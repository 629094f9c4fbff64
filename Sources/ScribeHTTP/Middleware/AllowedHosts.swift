import HTTPTypes
package import Hummingbird
import Logging
import ScribeDomain

/// The hosts under which a server may be asked that takes any token.
///
/// A web page can have its own name lead to this server (DNS rebinding); what it asks then has its own origin, and the
/// browser lets it read the answers. Such a name is none of these.
package struct AllowedHosts: Sendable {
    /// Last labels and a domain that nobody can register (RFC 6761, RFC 8375, ICANN's `internal`), with which names of
    /// local networks end.
    private static let privateDomains = ["localhost", "local", "internal", "test", "lan", "home.arpa"]
    /// How many hosts are remembered as allowed.
    private static let mostKnown = 256

    private let names: Set<String>
    private let domains: [String]
    /// The hosts of earlier requests, as they were spelled.
    private let known = LockedValue<Set<String>>([])

    /// - Parameter names: beside those that nobody can register; `*.scribe.example` is every name below that one.
    package init(_ names: [String]) {
        let names = names.map { $0.lowercased() }
        self.names = Set(names)
        domains = Self.privateDomains + names.filter { $0.hasPrefix("*.") }.map { String($0.dropFirst(2)) }
    }

    /// - Parameter authority: a host and perhaps a port. No browser leaves it out, so that nothing is allowed too.
    package func contains(_ authority: String) -> Bool {
        if authority.isEmpty || known.withLock({ $0.contains(authority) }) { return true }
        guard let host = HostAndPort(authority), isAllowed(host) else { return false }
        known.withLock { if $0.count < Self.mostKnown { $0.insert(authority) } }
        return true
    }

    private func isAllowed(_ place: HostAndPort) -> Bool {
        let host = place.host
        if place.isAddress || !host.utf8.contains(UInt8(ascii: ".")) || names.contains(host) { return true }
        return domains.contains { host.hasSuffix(".\($0)") || host == $0 }
            || AudioLocation.bucket(ofVirtualHost: host) != nil
    }
}

/// Refuses what is asked under the name of a host that is not ours.
package struct HostRule<Next: HTTPResponder>: HTTPResponder where Next.Context == ScribeContext {
    private let next: Next
    private let allowed: AllowedHosts?
    private let exempt: String

    /// - Parameters:
    ///   - allowed: nil where every host is, because no token is taken on trust.
    ///   - exempt: the first word of paths that have a rule of their own.
    package init(next: Next, allowed: AllowedHosts?, exempt: String) {
        self.next = next
        self.allowed = allowed
        self.exempt = exempt
    }

    package func respond(to request: Request, context: ScribeContext) async throws -> Response {
        guard let allowed, !allowed.contains(request.authority), !RequestAddress(request).begins(with: exempt) else {
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
