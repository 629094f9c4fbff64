import AsyncHTTPClient
package import Basics
package import Foundation
import NIOCore
import NIOHTTP1
package import NIOPosix
package import Outbound
package import ScribeDomain

/// HTTP client for the services behind engines, with limits: it follows no redirects, and answers have a maximum size.
package final class ServiceClient: Sendable {
    /// Answer of a service.
    package struct Answer: Sendable {
        package let status: Int
        package let contentType: String
        /// Seconds of `Retry-After`; nil without one.
        package let retryAfter: Double?
        package let body: Data
        /// Beginning of the body for the log, see ``ServiceClient/excerpt(of:without:)``.
        package let excerpt: String
        /// Code for a failure because of this answer.
        fileprivate let code: Diagnostic.Code
    }

    /// Largest answer in bytes: an hour of words with times takes a third of it.
    static let answerLimit = 8 << 20

    private let client: HTTPClient
    private let codes: (failed: Diagnostic.Code, late: Diagnostic.Code)
    private let files: NIOThreadPool
    private let connectTime: Duration
    let clock: WallClock
    private let refused: @Sendable (_ address: String) -> Void
    /// Whether the last connection was refused.
    private let isRefused = LockedValue(false)

    /// Creates a client.
    /// - Parameters:
    ///   - timeLimit: longest silence of the service.
    ///   - connectTime: time in which a connection is tried again and again.
    ///   - refused: called with the service's URL when a connection is refused, once until a connection is not.
    ///   - files: threads that may block.
    ///   - codes: diagnostic codes for a failed and for a late service.
    package init(
        timeLimit: Duration, connectTime: Duration = .seconds(10), trust: OutboundTrust = .system,
        codes: (failed: Diagnostic.Code, late: Diagnostic.Code) = (.transcriptionFailed, .transcriptionTimeout),
        files: NIOThreadPool, clock: WallClock, refused: @escaping @Sendable (_ address: String) -> Void = { _ in }
    ) {
        self.codes = codes
        self.connectTime = connectTime
        self.clock = clock
        self.refused = refused
        var configuration = HTTPClient.Configuration(
            tlsConfiguration: trust.configuration, redirectConfiguration: .disallow,
            timeout: .init(connect: TimeAmount(connectTime), read: TimeAmount(timeLimit)),
            // A kilobyte of compressed answer can expand to a megabyte.
            decompression: .disabled)
        configuration.httpVersion = .http1Only
        // The client would try again in silence.
        configuration.connectionPool.retryConnectionEstablishment = false
        client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        self.files = files
    }

    deinit {
        // The client lives on until its shutdown has ended.
        client.shutdown { _ in }
    }

    /// Posts a file, streamed from disk.
    /// - Throws: ``EngineFailure``, or `CancellationError`.
    func post(_ url: URL, _ headers: [(String, String)], file path: String) async throws -> Answer {
        let size = try await files.runIfActive {
            try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int64 ?? 0
        }
        return try await post(url, headers) { [files] in
            .stream(FileChunks(path: path, files: files), length: .known(size))
        }
    }

    /// Posts bytes.
    /// - Throws: ``EngineFailure``, or `CancellationError`.
    func post(_ url: URL, _ headers: [(String, String)], body: [UInt8]) async throws -> Answer {
        try await post(url, headers) { .bytes(body) }
    }

    /// - Parameter body: makes the body of each attempt.
    private func post(
        _ url: URL, _ headers: [(String, String)], _ body: () -> HTTPClientRequest.Body
    ) async throws -> Answer {
        var request = HTTPClientRequest(url: url.absoluteString)
        request.method = .POST
        request.headers = HTTPHeaders(headers + [("Accept-Encoding", "identity"), ("Connection", "close")])
        do {
            return try await answer(try await response(to: request, body), to: headers)
        } catch let failure as EngineFailure {
            throw failure
        } catch {
            try Task.checkCancellation()
            let isTimeout = [HTTPClientError.readTimeout, .connectTimeout, .writeTimeout].contains {
                $0 == error as? HTTPClientError
            }
            throw EngineFailure(
                isTimeout ? codes.late : codes.failed, "the service did not answer: \(error)", isRetryable: true)
        }
    }

    /// Sends a request, and tries again while there is no connection: the service may be starting, and in a network of
    /// containers its name comes with it.
    /// - Parameter body: makes the body of each attempt.
    private func response(
        to request: HTTPClientRequest, _ body: () -> HTTPClientRequest.Body
    ) async throws -> HTTPClientResponse {
        var request = request
        let end = clock.now.addingTimeInterval(connectTime / .seconds(1))
        while true {
            request.body = body()
            do {
                let response = try await client.execute(request, deadline: .distantFuture)
                isRefused.withLock { $0 = false }
                return response
            } catch let error where error is NIOConnectionError || Self.isRefusal(error) {
                let isFirst = isRefused.withLock { isRefused in
                    defer { isRefused = isRefused || Self.isRefusal(error) }
                    return !isRefused && Self.isRefusal(error)
                }
                if isFirst { refused(URL(string: request.url)?.withoutSecrets ?? "") }
                let left = end.timeIntervalSince(clock.now)
                guard left > 0 else { throw error }
                try await clock.sleep(for: min(Self.pause, .seconds(left)), as: .upstream)
            }
        }
    }

    /// Pause between two attempts to connect.
    private static let pause: Duration = .milliseconds(500)

    private static func isRefusal(_ error: any Error) -> Bool {
        if let failure = error as? NIOConnectionError {
            return failure.connectionErrors.contains { isRefusal($0.error) }
        }
        return (error as? IOError)?.errnoCode == ECONNREFUSED
    }

    /// Requests a document to see whether the service is up. Most answers show that, also a 404.
    /// - Returns: nil if the service is up; otherwise the request and the answer, which no working service would give.
    func probe(_ url: URL, _ headers: [(String, String)]) async -> FailedProbe? {
        var request = HTTPClientRequest(url: url.absoluteString)
        request.headers = HTTPHeaders(headers + [("Accept-Encoding", "identity"), ("Connection", "close")])
        let asked = "GET \(url.withoutSecrets)"
        do {
            let response = try await client.execute(request, timeout: Self.probeTime)
            let status = Int(response.status.code)
            // A service without a list of models answers with an error, but is up.
            guard [401, 403].contains(status) || (300..<400).contains(status) || status >= 500 && status != 501 else {
                return nil
            }
            let beginning = try await response.body.first { _ in true } ?? ByteBuffer()
            let said = Self.excerpt(of: Data(beginning.readableBytesView), without: headers)
            return FailedProbe(asked: asked, answer: said.isEmpty ? "\(status)" : "\(status): \(said)")
        } catch {
            return FailedProbe(asked: asked, answer: "\(error)")
        }
    }

    private static let probeTime: TimeAmount = .seconds(10)

    /// Excerpt of an answer for the log: the first 300 bytes on one line, without the key, which some services repeat.
    private static func excerpt(of body: Data, without headers: [(String, String)]) -> String {
        var text = String(decoding: body.prefix(300), as: UTF8.self).split(whereSeparator: \.isWhitespace)
            .joined(separator: " ").filter { !$0.unicodeScalars.contains { $0.properties.generalCategory == .control } }
        for (name, value) in headers where name == "Authorization" {
            guard let key = value.split(separator: " ").last else { continue }
            text = text.replacingOccurrences(of: key, with: "…")
        }
        return text
    }

    private func answer(
        _ response: HTTPClientResponse, to headers: [(String, String)]
    ) async throws -> Answer {
        if (300..<400).contains(response.status.code) {
            // Audio is sent only to the configured address.
            throw EngineFailure(
                codes.failed, "the service redirects, with \(response.status.code); name its final address")
        }
        let encoding = response.headers.first(name: "Content-Encoding")?.lowercased() ?? "identity"
        guard encoding == "identity" else {
            throw EngineFailure(
                codes.failed, "the service's answer is packed, as \(encoding.prefix(20))")
        }
        var body = Data()
        for try await piece in response.body {
            guard body.count + piece.readableBytes <= Self.answerLimit else {
                throw EngineFailure(codes.failed, "the service's answer is too long")
            }
            body.append(contentsOf: piece.readableBytesView)
        }
        return Answer(
            status: Int(response.status.code), contentType: response.headers.first(name: "Content-Type") ?? "",
            retryAfter: Self.pause(response.headers.first(name: "Retry-After")), body: body,
            excerpt: Self.excerpt(of: body, without: headers), code: codes.failed)
    }

    /// Pause by `Retry-After` in seconds, limited to 60 because a client waits; nil without a valid header.
    static func pause(_ header: String?) -> Double? {
        guard let seconds = header.flatMap(Double.init), seconds.isFinite, seconds >= 0 else { return nil }
        return min(seconds, 60)
    }
}

extension URL {
    /// URL for the log: without user, password, query and fragment.
    var withoutSecrets: String {
        guard var parts = URLComponents(url: self, resolvingAgainstBaseURL: false) else { return "" }
        (parts.user, parts.password, parts.query, parts.fragment) = (nil, nil, nil, nil)
        return parts.string ?? ""
    }
}

extension ServiceClient.Answer {
    /// Checks for success, and throws a failure that says whether and when to try again.
    /// - Parameter input: what the service got, for the failure's words.
    func requireSuccess(of input: String = "recording") throws(EngineFailure) {
        switch status {
        case 200..<300: return
        case 408, 425, 429, 500...:
            throw EngineFailure(
                code, "the service answered \(status)", isRetryable: true, retryAfter: retryAfter,
                detail: excerpt)
        case 401, 403:
            throw EngineFailure(code, "the service refused the key with \(status)", detail: excerpt)
        case 400, 413, 415, 422:
            // The refusal concerns this input only; the next one may succeed.
            throw EngineFailure(
                code, "the service does not take the \(input): \(status)", origin: .input,
                detail: excerpt)
        default:
            throw EngineFailure(code, "the service answered \(status)", detail: excerpt)
        }
    }
}
