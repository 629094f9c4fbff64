import Crypto
import Foundation
import HTTPTypes
package import Hummingbird

/// Origin of a request to operators' routes: its host, its page, its proxy.
package struct OperatorRequest: Sendable {
    private let request: Request

    package init(_ request: Request) { self.request = request }

    /// Whether the host is an address, `localhost`, a name without a dot, or the server's own host.
    ///
    /// A web page can point its own domain here (DNS rebinding). It cannot do so with any of these.
    /// - Parameter own: The host that the server listens on.
    package func hasOwnHost(_ own: String) -> Bool {
        guard let place = HostAndPort(request.authority) else { return false }
        return place.isAddress || !place.host.contains(".") || place.host.hasSuffix(".localhost")
            || place.host == own.lowercased()
    }

    /// Whether no page of another origin sent the request, as far as its browser tells.
    package var isFromNoOtherPage: Bool {
        if let site, !["same-origin", "none"].contains(site) { return false }
        return request.headers.value(of: .origin) == nil || hasOwnOrigin
    }

    /// Whether the request names its page's origin, and the origin is the server's.
    package var hasOwnOrigin: Bool {
        guard let origin = request.headers.value(of: .origin)?.lowercased() else { return false }
        return ["http", "https"].contains { origin == "\($0)://\(request.authority.lowercased())" }
    }

    /// Relation of the sending page to the server, as the browser tells it; nil without one.
    package var site: String? { request.headers.value(of: .secFetchSite)?.lowercased() }

    /// Whether a browser opens the answer as a page of its own, not within another one.
    package var isNavigation: Bool {
        request.headers.value(of: .secFetchMode)?.lowercased() == "navigate"
            && request.headers.value(of: .secFetchDest)?.lowercased() == "document"
    }

    /// Whether a proxy forwarded the request: its client may be remote, though the connection is local.
    package var isForwarded: Bool {
        request.headers.contains { field in
            let name = field.name.canonicalName
            return name == "forwarded" || name == "via" || name.hasPrefix("x-forwarded-") || name == "x-real-ip"
        }
    }

    /// Compares hashes, so that the time does not depend on how much of a token is right.
    package static func areEqual(_ one: String, _ other: String) -> Bool {
        SHA256.hash(data: Data(one.utf8)) == SHA256.hash(data: Data(other.utf8))
    }
}
