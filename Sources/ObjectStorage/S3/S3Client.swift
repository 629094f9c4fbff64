import AsyncHTTPClient
import Basics
import Crypto
import Foundation
import NIOCore
import NIOHTTP1
import ScribeDomain

/// Requests to a bucket of S3. Each request is idempotent, and is sent again after a failure of the service.
struct S3Client: Sendable {
    private static let maxAttempts = 4
    /// Time for one attempt without the transfer of a large body.
    private static let timeout: TimeAmount = .seconds(10)
    /// Time from the first attempt in which others begin. Clients wait for a minute at most.
    private static let patience: TimeAmount = .seconds(20)
    /// Slowest transfer of an object, in bytes per second.
    private static let slowest = 1 << 20

    let address: S3Address
    let credentials: S3Address.Credentials
    let clock: WallClock
    private let http = Self.http

    /// Connections of all buckets. By default a client goes on trying to connect for as long as the request may take.
    private static let http: HTTPClient = {
        var configuration = HTTPClient.Configuration(timeout: .init(connect: .seconds(5)))
        configuration.connectionPool.retryConnectionEstablishment = false
        return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }()

    /// Stores an object.
    /// - Parameters:
    ///   - md5: MD5 of the bytes, which the service compares.
    ///   - body: makes the body of each attempt.
    func put(
        _ name: String, size: Int, md5: [UInt8], _ body: @escaping @Sendable () -> HTTPClientRequest.Body
    ) async throws {
        let headers = ["content-md5": Data(md5).base64EncodedString(), "content-length": String(size)]
        let timeout = Self.timeout + .seconds(Int64(size / Self.slowest))
        _ = try await send("PUT", name, headers: headers, timeout: timeout, body: body) { try await Self.drain($0) }
    }

    /// Reads a part of an object.
    /// - Returns: the bytes, none behind the object's end; nil if there is no such object.
    func get(_ name: String, _ range: Range<Int>) async throws -> ByteBuffer? {
        let headers = ["range": "bytes=\(range.lowerBound)-\(range.upperBound - 1)"]
        return try await send("GET", name, headers: headers, missing: true) { response in
            if response.status == .rangeNotSatisfiable {
                try await Self.drain(response)
                return ByteBuffer()
            }
            return try await response.body.collect(upTo: range.count)
        }
    }

    /// Reads the rest of an answer. Its connection serves no other request otherwise.
    private static func drain(_ response: HTTPClientResponse) async throws {
        _ = try await response.body.collect(upTo: 1 << 20)
    }

    /// Size of an object in bytes; nil if there is no such object.
    func size(of name: String) async throws -> Int? {
        try await send("HEAD", name, missing: true) { response in
            response.headers.first(name: "content-length").flatMap { Int($0) } ?? 0
        }
    }

    func delete(_ name: String) async throws {
        _ = try await send("DELETE", name, missing: true) { try await Self.drain($0) }
    }

    /// One page of the names below the prefix, with their last writes.
    /// - Parameter last: the last name of the page before; nil for the first page.
    /// - Returns: nil at the end.
    func list(after last: String?) async throws -> [(name: String, writtenAt: Date)]? {
        var query = [("list-type", "2"), ("max-keys", "500"), ("prefix", address.prefix)]
        if let last { query.append(("start-after", address.prefix + last)) }
        let text = try await send("GET", nil, query: query) { response in
            String(buffer: try await response.body.collect(upTo: 4 << 20))
        }
        let found = S3Listing(text ?? "").objects.compactMap { key, writtenAt in
            key.hasPrefix(address.prefix) ? (String(key.dropFirst(address.prefix.count)), writtenAt) : nil
        }
        return found.isEmpty ? nil : found
    }

    /// Checks that the bucket is there and takes objects.
    /// - Throws: ``ObjectStorageProblem``.
    func check() async throws {
        do {
            let name = "scribe-emulator-check"
            try await put(name, size: 2, md5: [UInt8](Insecure.MD5.hash(data: Data("ok".utf8)))) {
                .bytes(ByteBuffer(string: "ok"))
            }
            try await delete(name)
        } catch {
            throw ObjectStorageProblem(reason: "\(address.shown) takes no objects: \(error)")
        }
    }

    /// Whether the service finds the prefix's owner, within two seconds.
    func isReachable() async -> Bool {
        let request = request("HEAD", Self.ownerName, [], [:], nil)
        return (try? await http.execute(request, timeout: .seconds(2)))?.status == .ok
    }

    /// Name of the object that says which database the objects below the prefix belong to.
    static let ownerName = "scribe-emulator-owner"

    /// Claims the prefix for a database: the sweep of another one would remove its objects.
    /// - Throws: ``ObjectStorageProblem`` if the prefix belongs to another database.
    func claim(for database: [UInt8]) async throws {
        if let found = try await get(Self.ownerName, 0..<max(1, database.count)) {
            guard Array(buffer: found) == database else {
                throw ObjectStorageProblem(
                    reason: "\(address.shown) holds the audio of another database; choose another prefix")
            }
            return
        }
        let md5 = [UInt8](Insecure.MD5.hash(data: Data(database)))
        try await put(Self.ownerName, size: database.count, md5: md5) { .bytes(ByteBuffer(bytes: database)) }
    }

    // MARK: One request

    /// - Parameters:
    ///   - name: name of the object; nil for the bucket.
    ///   - read: gets an answer of success, or one that has no such range.
    ///   - missing: whether 404 is an answer.
    /// - Returns: the value of `read`; nil for 404.
    /// - Throws: ``ScribeError/storageUnavailable(cause:)``.
    private func send<Value>(
        _ method: String, _ name: String?, query: [(String, String)] = [], headers: [String: String] = [:],
        missing: Bool = false, timeout: TimeAmount = timeout,
        body: (@Sendable () -> HTTPClientRequest.Body)? = nil,
        _ read: (HTTPClientResponse) async throws -> Value
    ) async throws -> Value? {
        var problem = "no answer"
        let end = NIODeadline.now() + Self.patience
        for attempt in 1...Self.maxAttempts {
            do {
                let response = try await http.execute(
                    request(method, name, query, headers, body?()), timeout: timeout)
                switch Int(response.status.code) {
                case 200..<300: return try await read(response)
                // Only an answer to a range: what was sent is not stored by it.
                case 416 where headers["range"] != nil: return try await read(response)
                case 404 where missing:
                    try await Self.drain(response)
                    return nil
                case let code:
                    problem = "status \(code)"
                    guard code >= 500 || code == 429 else {
                        throw ScribeError.storageUnavailable(cause: "the object store answers \(problem)")
                    }
                }
            } catch let error as ScribeError {
                throw error
            } catch {
                problem = "\(type(of: error))"
            }
            guard NIODeadline.now() < end else { break }
            if attempt < Self.maxAttempts {
                try await clock.sleep(for: .milliseconds(100 << attempt), as: .storeRetry)
            }
        }
        throw ScribeError.storageUnavailable(cause: "the object store cannot be reached: \(problem)")
    }

    private func request(
        _ method: String, _ name: String?, _ query: [(String, String)], _ headers: [String: String],
        _ body: HTTPClientRequest.Body?
    ) -> HTTPClientRequest {
        let key = name.map { "/" + address.prefix + $0 } ?? ""
        let path = PercentEncoding.encode("/\(address.bucket)\(key)", keepingSlashes: true)
        let text = query.sorted { $0.0 < $1.0 }
            .map { "\($0.0)=\(PercentEncoding.encode($0.1, keepingSlashes: false))" }.joined(separator: "&")
        let signature = S3Signature(address: address, credentials: credentials)
        let base =
            address.endpoint.absoluteString.hasSuffix("/")
            ? String(address.endpoint.absoluteString.dropLast()) : address.endpoint.absoluteString
        var request = HTTPClientRequest(url: base + path + (text.isEmpty ? "" : "?" + text))
        request.method = HTTPMethod(rawValue: method)
        for (name, value) in signature.headers(method, path: path, query: text, headers, at: clock.now)
        where name != "content-length" {
            request.headers.add(name: name, value: value)
        }
        request.body = body
        return request
    }
}
