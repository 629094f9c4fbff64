import AsyncHTTPClient
import Foundation
package import NIOCore
import NIOHTTP1
import NIOPosix
package import ScribeDomain

/// Talks to addresses that others have named: a name is resolved once, what it leads to is checked, and the connection
/// goes to the address that was checked. Redirects are not followed.
package struct OutboundClient: Sendable {
    /// What is answered, as it comes.
    package struct Answer: AsyncSequence, Sendable {
        package typealias Element = ByteBuffer

        fileprivate let body: HTTPClientResponse.Body
        /// In bytes, where it is said.
        package let size: Int?

        package func makeAsyncIterator() -> Iterator { Iterator(base: body.makeAsyncIterator()) }

        package struct Iterator: AsyncIteratorProtocol {
            fileprivate var base: HTTPClientResponse.Body.AsyncIterator

            /// - Throws: ``OutboundProblem/unreachable``, `CancellationError`.
            package mutating func next() async throws -> ByteBuffer? {
                do {
                    return try await base.next(isolation: #isolation)
                } catch {
                    try Task.checkCancellation()
                    throw OutboundProblem.unreachable
                }
            }
        }
    }

    private let rules: OutboundRules
    private let trust: OutboundTrust
    private let lookUp: @Sendable (_ host: String, _ tenant: String) async throws -> [IPAddress]
    private let clock: WallClock

    package init(rules: OutboundRules, trust: OutboundTrust = .machine, clock: WallClock) {
        let hosts = HostAddresses()
        self.init(rules: rules, trust: trust, clock: clock) { try await hosts.lookUp($0, for: $1) }
    }

    /// - Parameter lookUp: finds what a name leads to.
    init(
        rules: OutboundRules, trust: OutboundTrust = .machine, clock: WallClock,
        lookUp: @escaping @Sendable (_ host: String, _ tenant: String) async throws -> [IPAddress]
    ) {
        self.rules = rules
        self.trust = trust
        self.lookUp = lookUp
        self.clock = clock
    }

    /// Looks whether an address leads to where the server may be sent. It may lead elsewhere when it is used.
    /// - Throws: ``OutboundProblem``, `CancellationError`.
    package func check(_ address: OutboundAddress, within limit: Duration, for business: BusinessID) async throws {
        _ = try await withTimeLimit(limit, clock: clock, failure: OutboundProblem.unknownHost) {
            try await addresses(of: address, for: business)
        }
    }

    /// Fetches what is there, and gives it to `body` while it comes.
    /// - Parameter limit: for all of it.
    /// - Throws: ``OutboundProblem``, `CancellationError`, what `body` throws.
    package func get<Value: Sendable>(
        _ address: OutboundAddress, within limit: Duration, for business: BusinessID,
        _ body: @escaping @Sendable (Answer) async throws -> Value
    ) async throws -> Value {
        try await exchange(address, .GET, within: limit, for: business) { response in
            let size = response.headers.first(name: "Content-Length").flatMap { Int($0) }
            return try await body(Answer(body: response.body, size: size))
        }
    }

    /// Sends a document there. What is answered beside the status is not read.
    /// - Parameter method: `POST` or `PUT`.
    /// - Throws: ``OutboundProblem``, `CancellationError`.
    package func send(
        _ content: ByteBuffer, _ headers: [(String, String)], method: String, to address: OutboundAddress,
        within limit: Duration, for business: BusinessID
    ) async throws {
        try await exchange(
            address, HTTPMethod(rawValue: method), headers, content, within: limit, for: business
        ) { _ in }
    }

    private func exchange<Value: Sendable>(
        _ address: OutboundAddress, _ method: HTTPMethod, _ headers: [(String, String)] = [],
        _ content: ByteBuffer? = nil, within limit: Duration, for business: BusinessID,
        _ body: @escaping @Sendable (HTTPClientResponse) async throws -> Value
    ) async throws -> Value {
        // The time is the receiver's: that a name is waited for is not its fault.
        let targets = try await addresses(of: address, for: business)
        return try await withTimeLimit(limit, clock: clock, failure: OutboundProblem.unreachable) {
            // A name may lead to several, of which not all are there.
            for target in targets.prefix(Self.mostAddresses) {
                do {
                    return try await exchange(address, at: target, method, headers, content, body)
                } catch is NotConnected {
                    continue
                }
            }
            throw OutboundProblem.unreachable
        }
    }

    /// Nobody was reached, so nothing was sent, and another address may be tried.
    private struct NotConnected: Error {}

    private static let mostAddresses = 4

    /// Who has named the address is not let in where no web page is, such as this server's own door for operators.
    private static let headers = [
        ("Accept-Encoding", "identity"), ("Connection", "close"), ("Sec-Fetch-Site", "cross-site"),
    ]

    private func exchange<Value: Sendable>(
        _ address: OutboundAddress, at target: IPAddress, _ method: HTTPMethod, _ headers: [(String, String)],
        _ content: ByteBuffer?, _ body: @escaping @Sendable (HTTPClientResponse) async throws -> Value
    ) async throws -> Value {
        let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration(address, target))
        let result: Result<Value, any Error>
        do {
            var request = HTTPClientRequest(url: address.url)
            request.method = method
            request.headers = HTTPHeaders(headers + Self.headers)
            if let content { request.body = .bytes(content) }
            let response = try await response(to: request, by: client)
            switch response.status.code {
            case 200..<300: result = .success(try await body(response))
            case 300..<400: throw OutboundProblem.redirect(Int(response.status.code))
            default: throw OutboundProblem.refused(Int(response.status.code))
            }
        } catch {
            result = .failure(error)
        }
        try? await client.shutdown()
        return try result.get()
    }

    private func response(to request: HTTPClientRequest, by client: HTTPClient) async throws -> HTTPClientResponse {
        do {
            return try await client.execute(request, deadline: .distantFuture)
        } catch let failure as HTTPClientError where failure == .connectTimeout {
            throw NotConnected()
        } catch is NIOConnectionError {
            throw NotConnected()
        } catch let failure as IOError where failure.errnoCode == ECONNREFUSED {
            throw NotConnected()
        } catch {
            try Task.checkCancellation()
            throw OutboundProblem.unreachable
        }
    }

    private func configuration(_ address: OutboundAddress, _ target: IPAddress) -> HTTPClient.Configuration {
        var configuration = HTTPClient.Configuration(
            tlsConfiguration: trust.configuration, redirectConfiguration: .disallow,
            timeout: .init(connect: .seconds(5), read: .seconds(30)),
            decompression: .disabled)
        configuration.httpVersion = .http1Only
        configuration.connectionPool.retryConnectionEstablishment = false
        // An address that stands in the URL itself is not looked up.
        if IPAddress(address.host) == nil { configuration.dnsOverride = [address.host: target.description] }
        return configuration
    }

    /// Those that may be talked to.
    private func addresses(of address: OutboundAddress, for business: BusinessID) async throws -> [IPAddress] {
        let found: [IPAddress]
        if let literal = IPAddress(address.host) {
            found = [literal]
        } else {
            found = try await lookUp(address.host, business.rawValue)
        }
        guard !found.isEmpty else { throw OutboundProblem.unknownHost }
        let allowed = found.filter { rules.allow(address.host, at: $0) }
        guard !allowed.isEmpty else { throw OutboundProblem.forbidden }
        return allowed
    }
}
