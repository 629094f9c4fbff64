import AsyncHTTPClient
import Engines
import Foundation
import NIOCore
import NIOHTTP1
import ScribeRuntime
import SystemPackage

/// Sends one HTTP request with a client of its own.
enum OneRequest {
    /// A file of the user cannot be read or written.
    struct FileProblem: Error, CustomStringConvertible {
        let path: String
        let reason: Errno

        var description: String { "\(path == "-" ? "standard output" : path): \(reason)" }

        static func naming<Value>(_ path: String, _ work: () throws -> Value) throws -> Value {
            do {
                return try work()
            } catch let reason as Errno {
                throw FileProblem(path: path, reason: reason)
            }
        }
    }

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
            // The client's own limit ends with the head.
            let late = HTTPClientError.deadlineExceeded
            answer = .success(
                try await withTimeLimit(.nanoseconds(time.nanoseconds), clock: .system, failure: late) { [request] in
                    let response = try await client.execute(request, timeout: time)
                    let bytes = try await response.body.collect(upTo: most)
                    return (Int(response.status.code), Data(bytes.readableBytesView))
                })
        } catch {
            answer = .failure(error)
        }
        try? await client.shutdown()
        return try answer.get()
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
    ) async throws -> (status: Int, body: Data) {
        try await exchange(HTTPClientRequest(url: url), headers, within: time) { response in
            guard (200..<300).contains(response.status.code) else {
                return Data(try await response.body.collect(upTo: most).readableBytesView)
            }
            let target = try FileProblem.naming(file) {
                guard file != "-" else { return try FileDescriptor.standardOutput.duplicate() }
                return try FileDescriptor.open(
                    FilePath(file), .writeOnly, options: [.create, .exclusiveCreate, .closeOnExec],
                    permissions: .ownerReadWrite)
            }
            defer { try? target.close() }
            for try await bytes in response.body {
                _ = try FileProblem.naming(file) { try target.writeAll(bytes.readableBytesView) }
            }
            return Data()
        }
    }

    /// Sends a request and passes the body of a 2xx answer on, as it comes.
    /// - Parameter time: the limit for the time without any byte.
    /// - Returns: the status, and the body of an answer outside 2xx.
    static func stream(
        _ url: String, headers: [String: String], within time: TimeAmount, _ pass: (ByteBuffer) throws -> Void
    ) async throws -> (status: Int, body: Data) {
        try await exchange(HTTPClientRequest(url: url), headers, within: time) { response in
            guard (200..<300).contains(response.status.code) else {
                return Data(try await response.body.collect(upTo: most).readableBytesView)
            }
            for try await bytes in response.body { try pass(bytes) }
            return Data()
        }
    }

    /// Sends a file as the body of a request.
    static func upload(
        _ file: String, as type: String, by method: HTTPMethod = .PUT, _ url: String, headers: [String: String],
        within time: TimeAmount
    ) async throws -> (status: Int, body: Data) {
        let source = try FileProblem.naming(file) {
            try FileDescriptor.open(FilePath(file), .readOnly, options: .closeOnExec)
        }
        defer { try? source.close() }
        var request = HTTPClientRequest(url: url)
        request.method = method
        let size = try FileProblem.naming(file) {
            let size = Int(try source.seek(offset: 0, from: .end))
            try source.seek(offset: 0, from: .start)
            return size
        }
        let pieces = AsyncThrowingStream<ByteBuffer, any Error> {
            var buffer = ByteBuffer()
            try buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: piece) { try source.read(into: $0) }
            return buffer.readableBytes > 0 ? buffer : nil
        }
        request.body = .stream(pieces, length: .known(Int64(size)))
        var headers = headers
        headers["Content-Type"] = type
        return try await exchange(request, headers, within: time) {
            Data(try await $0.body.collect(upTo: most).readableBytesView)
        }
    }

    private static func exchange(
        _ request: HTTPClientRequest, _ headers: [String: String], within time: TimeAmount,
        _ read: (HTTPClientResponse) async throws -> Data
    ) async throws -> (status: Int, body: Data) {
        var configuration = HTTPClient.Configuration(
            redirectConfiguration: .disallow, timeout: .init(connect: time, read: time))
        configuration.connectionPool.retryConnectionEstablishment = false
        let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        var request = request
        for (name, value) in headers { request.headers.add(name: name, value: value) }
        let answer: Result<(status: Int, body: Data), any Error>
        do {
            let response = try await client.execute(request, deadline: .distantFuture)
            answer = .success((Int(response.status.code), try await read(response)))
        } catch {
            answer = .failure(error)
        }
        try? await client.shutdown()
        return try answer.get()
    }
}
