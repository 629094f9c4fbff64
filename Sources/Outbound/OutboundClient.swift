import AsyncHTTPClient
package import Basics
import Foundation
package import NIOCore
import NIOHTTP1
import NIOPosix
package import ScribeDomain

/// HTTP client for URLs that clients name, protected against SSRF. A host is resolved once, its addresses are checked,
/// and the connection goes to a checked address. Redirects are not followed.
package struct OutboundClient: Sendable {
    /// Streamed body of an answer.
    package struct Answer: AsyncSequence, Sendable {
        package typealias Element = ByteBuffer

        fileprivate let body: HTTPClientResponse.Body
        /// Size in bytes by `Content-Length`; nil without one.
        package let size: Int?

        package func makeAsyncIterator() -> Iterator { Iterator(base: body.makeAsyncIterator()) }

        package struct Iterator: AsyncIteratorProtocol {
            fileprivate var base: HTTPClientResponse.Body.AsyncIterator

            /// - Throws: ``OutboundError/unreachable``, `CancellationError`.
            package mutating func next() async throws -> ByteBuffer? {
                do {
                    return try await base.next(isolation: #isolation)
                } catch {
                    try Task.checkCancellation()
                    throw OutboundError.unreachable
                }
            }
        }
    }

    private let rules: OutboundRules
    private let trust: OutboundTrust
    private let lookUp: @Sendable (_ host: String, _ tenant: String) async throws -> [IPAddress]
    private let clock: WallClock

    package init(rules: OutboundRules, trust: OutboundTrust = .system, clock: WallClock) {
        let hosts = HostResolver()
        self.init(rules: rules, trust: trust, clock: clock) { try await hosts.lookUp($0, for: $1) }
    }

    /// Creates a client.
    /// - Parameter lookUp: resolves a host name.
    init(
        rules: OutboundRules, trust: OutboundTrust = .system, clock: WallClock,
        lookUp: @escaping @Sendable (_ host: String, _ tenant: String) async throws -> [IPAddress]
    ) {
        self.rules = rules
        self.trust = trust
        self.lookUp = lookUp
        self.clock = clock
    }

    /// Checks that a URL resolves to permitted addresses. The host may resolve to other addresses later.
    /// - Throws: ``OutboundError``, `CancellationError`.
    package func check(_ address: OutboundURL, within limit: Duration, for business: BusinessID) async throws {
        _ = try await withTimeLimit(limit, clock: clock, failure: OutboundError.unknownHost) {
            try await addresses(of: address, for: business)
        }
    }

    /// Fetches a URL and passes the answer to `body` as it arrives.
    /// - Parameter limit: time limit for the whole exchange.
    /// - Throws: ``OutboundError``, `CancellationError`, errors of `body`.
    package func get<Value: Sendable>(
        _ address: OutboundURL, within limit: Duration, for business: BusinessID,
        _ body: @escaping @Sendable (Answer) async throws -> Value
    ) async throws -> Value {
        try await exchange(address, .GET, within: limit, for: business) { response in
            let size = response.headers.first(name: "Content-Length").flatMap { Int($0) }
            return try await body(Answer(body: response.body, size: size))
        }
    }

    /// Sends content to a URL. Only the status of the answer is read.
    /// - Parameter method: `POST` or `PUT`.
    /// - Returns: the status, one of 2xx.
    /// - Throws: ``OutboundError``, `CancellationError`.
    @discardableResult
    package func send(
        _ content: ByteBuffer, _ headers: [(String, String)], method: String, to address: OutboundURL,
        within limit: Duration, for business: BusinessID
    ) async throws -> Int {
        try await exchange(
            address, HTTPMethod(rawValue: method), headers, content, within: limit, for: business
        ) { Int($0.status.code) }
    }

    /// Opens a WebSocket to a URL, whose `http` or `https` stands for `ws` or `wss`.
    /// - Throws: ``OutboundError``, `CancellationError`.
    package func openSocket(
        to address: OutboundURL, _ headers: [(String, String)], within limit: Duration, for business: BusinessID,
        identifiers: IdentifierSource
    ) async throws -> (socket: OutboundSocket, channel: OutboundSocket.Channel) {
        guard let url = URL(string: address.url) else { throw OutboundError.invalid("is no URL") }
        return try await withTimeLimit(limit, clock: clock, failure: OutboundError.unreachable) {
            for target in try await addresses(of: address, for: business).prefix(Self.maxAddresses) {
                let socket = try OutboundSocket(
                    url, at: "\(target)", headers: headers + [("Sec-Fetch-Site", "cross-site")], trust: trust,
                    identifiers: identifiers)
                guard let channel = try? await socket.open() else {
                    try Task.checkCancellation()
                    continue
                }
                guard !Task.isCancelled else {
                    // The time limit has passed, so that no caller takes it.
                    try? await channel.executeThenClose { _, _ in }
                    throw CancellationError()
                }
                return (socket, channel)
            }
            throw OutboundError.unreachable
        }
    }

    private func exchange<Value: Sendable>(
        _ address: OutboundURL, _ method: HTTPMethod, _ headers: [(String, String)] = [],
        _ content: ByteBuffer? = nil, within limit: Duration, for business: BusinessID,
        _ body: @escaping @Sendable (HTTPClientResponse) async throws -> Value
    ) async throws -> Value {
        // The time limit belongs to the receiver, so it excludes the wait for a lookup.
        let targets = try await addresses(of: address, for: business)
        return try await withTimeLimit(limit, clock: clock, failure: OutboundError.unreachable) {
            // A name may have several addresses, of which some do not answer.
            for target in targets.prefix(Self.maxAddresses) {
                do {
                    return try await exchange(address, at: target, method, headers, content, body)
                } catch is NotConnected {
                    continue
                }
            }
            throw OutboundError.unreachable
        }
    }

    /// Thrown if no connection was made: nothing was sent, so another address may be tried.
    private struct NotConnected: Error {}

    private static let maxAddresses = 4

    /// Marks requests as cross-site: services that refuse web pages, such as this server's operator API, stay closed to
    /// the author of the URL.
    private static let headers = [
        ("Accept-Encoding", "identity"), ("Connection", "close"), ("Sec-Fetch-Site", "cross-site"),
    ]

    private func exchange<Value: Sendable>(
        _ address: OutboundURL, at target: IPAddress, _ method: HTTPMethod, _ headers: [(String, String)],
        _ content: ByteBuffer?, _ body: @escaping @Sendable (HTTPClientResponse) async throws -> Value
    ) async throws -> Value {
        let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration(address, target))
        let result: Result<Value, any Error> = await outcome {
            var request = HTTPClientRequest(url: address.url)
            request.method = method
            request.headers = HTTPHeaders(headers + Self.headers)
            if let content { request.body = .bytes(content) }
            let response = try await self.response(to: request, by: client)
            switch response.status.code {
            case 200..<300: return try await body(response)
            case 300..<400: throw OutboundError.redirect(Int(response.status.code))
            default: throw OutboundError.refused(Int(response.status.code))
            }
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
            throw OutboundError.unreachable
        }
    }

    private func configuration(_ address: OutboundURL, _ target: IPAddress) -> HTTPClient.Configuration {
        var configuration = HTTPClient.Configuration(
            tlsConfiguration: trust.configuration, redirectConfiguration: .disallow,
            timeout: .init(connect: .seconds(5), read: .seconds(30)),
            decompression: .disabled)
        configuration.httpVersion = .http1Only
        configuration.connectionPool.retryConnectionEstablishment = false
        // An IP address in the URL needs no lookup.
        if IPAddress(address.host) == nil { configuration.dnsOverride = [address.host: target.description] }
        return configuration
    }

    /// Resolves a URL's host and keeps the permitted addresses.
    private func addresses(of address: OutboundURL, for business: BusinessID) async throws -> [IPAddress] {
        let found: [IPAddress]
        if let literal = IPAddress(address.host) {
            found = [literal]
        } else {
            found = try await lookUp(address.host, business.rawValue)
        }
        guard !found.isEmpty else { throw OutboundError.unknownHost }
        let allowed = found.filter { rules.allow(address.host, at: $0) }
        guard !allowed.isEmpty else { throw OutboundError.forbidden }
        return allowed
    }
}
