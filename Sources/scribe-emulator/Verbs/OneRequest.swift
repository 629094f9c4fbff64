import AsyncHTTPClient
import Basics
import Engines
import Foundation
import NIOCore
import NIOHTTP1
import ScribeRuntime
import SystemPackage

/// Sends one HTTP request with a client of its own.
enum OneRequest {
    /// The longest answer that is read, in bytes.
    private static let most = 64 << 20

    /// Answer of any status. A body that was passed on is empty here.
    typealias Answer = (status: Int, body: Data)

    /// Sends a request and returns the answer, of any status.
    /// - Parameter time: The limit for connecting, and for the whole request.
    /// - Throws: An error of `AsyncHTTPClient` if no complete answer came in time.
    static func answer(
        _ method: String = "GET", _ url: String, headers: [String: String] = [:], body: [UInt8]? = nil,
        within time: TimeAmount
    ) async throws -> Answer {
        var request = HTTPClientRequest(url: url)
        request.method = .init(rawValue: method)
        if let body { request.body = .bytes(ByteBuffer(bytes: body)) }
        let late = HTTPClientError.deadlineExceeded
        return try await withTimeLimit(.nanoseconds(time.nanoseconds), clock: .system, failure: late) { [request] in
            try await exchange(request, headers, within: time)
        }
    }

    /// Bytes of a file that are read at once.
    private static let piece = 256 << 10

    /// Sends a request and writes the body of a 2xx answer to a file, as it comes.
    /// - Parameters:
    ///   - file: the path of a file that does not exist yet, for its owner only; `-` for standard output.
    ///   - time: the limit for the time without any byte.
    /// - Returns: the status, and the body of an answer outside 2xx.
    static func download(
        _ url: String, headers: [String: String], to file: String, within time: TimeAmount
    ) async throws -> Answer {
        let name = file == "-" ? "standard output" : file
        return try await exchange(HTTPClientRequest(url: url), headers, within: time) { body in
            let target = try FileSystem.naming(name) {
                guard file != "-" else { return try FileDescriptor.standardOutput.duplicate() }
                return try FileSystem.newFile(file, .exclusiveCreate)
            }
            defer { try? target.close() }
            for try await bytes in body {
                _ = try FileSystem.naming(name) { try target.writeAll(bytes.readableBytesView) }
            }
            return Data()
        }
    }

    /// Sends a request and passes the body of a 2xx answer on, as it comes.
    /// - Parameter time: the limit for the time without any byte.
    /// - Returns: the status, and the body of an answer outside 2xx.
    static func stream(
        _ url: String, headers: [String: String], within time: TimeAmount, _ pass: (ByteBuffer) throws -> Void
    ) async throws -> Answer {
        try await exchange(HTTPClientRequest(url: url), headers, within: time) { body in
            for try await bytes in body { try pass(bytes) }
            return Data()
        }
    }

    /// Sends a file as the body of a request.
    static func upload(
        _ file: String, as type: String, by method: HTTPMethod = .PUT, _ url: String, headers: [String: String],
        within time: TimeAmount
    ) async throws -> Answer {
        var request = HTTPClientRequest(url: url)
        request.method = method
        request.headers.add(name: "Content-Type", value: type)
        let (source, size) = try FileSystem.naming(file) {
            let source = try FileDescriptor.open(FilePath(file), .readOnly, options: .closeOnExec)
            let size = try source.seek(offset: 0, from: .end)
            try source.seek(offset: 0, from: .start)
            return (source, size)
        }
        defer { try? source.close() }
        let pieces = AsyncThrowingStream<ByteBuffer, any Error> {
            var buffer = ByteBuffer()
            try buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: piece) { try source.read(into: $0) }
            return buffer.readableBytes > 0 ? buffer : nil
        }
        request.body = .stream(pieces, length: .known(size))
        return try await exchange(request, headers, within: time)
    }

    /// The whole body of an answer.
    private static func whole(_ body: HTTPClientResponse.Body) async throws -> Data {
        Data(try await body.collect(upTo: most).readableBytesView)
    }

    /// - Parameters:
    ///   - time: the limit for connecting, and for the time without any byte.
    ///   - read: reads the body of a 2xx answer.
    private static func exchange(
        _ request: HTTPClientRequest, _ headers: [String: String], within time: TimeAmount,
        _ read: (HTTPClientResponse.Body) async throws -> Data = whole
    ) async throws -> Answer {
        var configuration = HTTPClient.Configuration(
            redirectConfiguration: .disallow, timeout: .init(connect: time, read: time))
        configuration.connectionPool.retryConnectionEstablishment = false
        var request = request
        for (name, value) in headers { request.headers.add(name: name, value: value) }
        return try await HTTPClient.withHTTPClient(configuration: configuration) { [request] client in
            let response = try await client.execute(request, deadline: .distantFuture)
            let isFine = (200..<300).contains(response.status.code)
            return (Int(response.status.code), try await isFine ? read(response.body) : whole(response.body))
        }
    }
}
