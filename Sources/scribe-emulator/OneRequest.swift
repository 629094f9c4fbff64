import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1

/// Sends one HTTP request with a client of its own.
enum OneRequest {
    /// The longest answer that is read, in bytes.
    private static let most = 64 << 20

    /// Sends a request and returns the answer, of any status.
    /// - Parameter time: The limit for connecting, and for the whole request.
    /// - Throws: An error of `AsyncHTTPClient` if no complete answer came in time.
    static func answer(
        _ method: String = "GET", _ url: String, headers: [String: String] = [:], body: Data? = nil,
        within time: TimeAmount
    ) async throws -> (status: Int, body: Data) {
        var configuration = HTTPClient.Configuration(redirectConfiguration: .disallow, timeout: .init(connect: time))
        configuration.connectionPool.retryConnectionEstablishment = false
        let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        var request = HTTPClientRequest(url: url)
        request.method = .init(rawValue: method)
        for (name, value) in headers { request.headers.add(name: name, value: value) }
        if let body { request.body = .bytes(ByteBuffer(bytes: body)) }
        let answer: Result<(status: Int, body: Data), any Error>
        do {
            let response = try await client.execute(request, timeout: time)
            let bytes = try await response.body.collect(upTo: most)
            answer = .success((Int(response.status.code), Data(bytes.readableBytesView)))
        } catch {
            answer = .failure(error)
        }
        try? await client.shutdown()
        return try answer.get()
    }
}
