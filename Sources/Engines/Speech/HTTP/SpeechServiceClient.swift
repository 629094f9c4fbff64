import AsyncHTTPClient
package import Foundation
import NIOCore
import NIOHTTP1
package import NIOPosix
import ScribeDomain

/// Sends files to a speech service and takes its answers, within limits: nothing is followed elsewhere, and no answer
/// is taken that is longer than one can be.
package final class SpeechServiceClient: Sendable {
    /// What a service said.
    package struct Answer: Sendable {
        package let status: Int
        package let contentType: String
        /// From `Retry-After`, in seconds.
        package let retryAfter: Double?
        package let body: Data
        /// The beginning of the body, for a log: see ``SpeechServiceClient/excerpt(of:without:)``.
        package let excerpt: String
    }

    /// The longest answer, in bytes: an hour of words with their times is a third of that.
    static let answerLimit = 8 << 20

    private let client: HTTPClient
    private let files: NIOThreadPool

    /// - Parameters:
    ///   - timeLimit: for a silence of the service.
    ///   - files: threads that may block.
    package init(timeLimit: Duration, trust: OutboundTrust = .machine, files: NIOThreadPool) {
        var configuration = HTTPClient.Configuration(
            tlsConfiguration: trust.configuration, redirectConfiguration: .disallow,
            timeout: .init(connect: .seconds(10), read: TimeAmount(timeLimit)),
            // A kilobyte of an answer that is packed can be a megabyte.
            decompression: .disabled)
        configuration.httpVersion = .http1Only
        client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        self.files = files
    }

    deinit {
        // It lives on until it has ended.
        client.shutdown { _ in }
    }

    /// Posts a file, which is not held in memory.
    /// - Throws: ``EngineFailure``, or `CancellationError`.
    func post(_ url: URL, _ headers: [(String, String)], file path: String) async throws -> Answer {
        let size = try await files.runIfActive {
            try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int64 ?? 0
        }
        var request = HTTPClientRequest(url: url.absoluteString)
        request.method = .POST
        request.headers = HTTPHeaders(headers + [("Accept-Encoding", "identity"), ("Connection", "close")])
        request.body = .stream(FileChunks(path: path, files: files), length: .known(size))
        do {
            let response = try await client.execute(request, deadline: .distantFuture)
            return try await Self.answer(response, to: headers)
        } catch let failure as EngineFailure {
            throw failure
        } catch {
            try Task.checkCancellation()
            let isTimeout = [HTTPClientError.readTimeout, .connectTimeout, .writeTimeout].contains {
                $0 == error as? HTTPClientError
            }
            throw EngineFailure(
                isTimeout ? .transcriptionTimeout : .transcriptionFailed, "the service did not answer: \(error)",
                isRetryable: true)
        }
    }

    /// Asks for a document, to see whether the service is there. Most answers show that, also a 404.
    /// - Returns: nil for those; otherwise the answer, which a service that takes recordings would not give.
    func probe(_ url: URL, _ headers: [(String, String)]) async -> FailedProbe? {
        var request = HTTPClientRequest(url: url.absoluteString)
        request.headers = HTTPHeaders(headers + [("Accept-Encoding", "identity"), ("Connection", "close")])
        let asked = "GET \(url.withoutSecrets)"
        do {
            let response = try await client.execute(request, timeout: Self.probeTime)
            let status = Int(response.status.code)
            // A service without a list of models has another answer, and is there all the same.
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

    /// The first 300 bytes of an answer's body, on one line and without the key, which some services repeat.
    private static func excerpt(of body: Data, without headers: [(String, String)]) -> String {
        var text = String(decoding: body.prefix(300), as: UTF8.self).split(whereSeparator: \.isWhitespace)
            .joined(separator: " ").filter { !$0.unicodeScalars.contains { $0.properties.generalCategory == .control } }
        for (name, value) in headers where name == "Authorization" {
            guard let key = value.split(separator: " ").last else { continue }
            text = text.replacingOccurrences(of: key, with: "…")
        }
        return text
    }

    private static func answer(
        _ response: HTTPClientResponse, to headers: [(String, String)]
    ) async throws -> Answer {
        if (300..<400).contains(response.status.code) {
            // Speech goes where the configuration says and nowhere else.
            throw EngineFailure(
                .transcriptionFailed, "the service redirects, with \(response.status.code); name its final address")
        }
        let encoding = response.headers.first(name: "Content-Encoding")?.lowercased() ?? "identity"
        guard encoding == "identity" else {
            throw EngineFailure(
                .transcriptionFailed, "the service's answer is packed, as \(encoding.prefix(20))")
        }
        var body = Data()
        for try await piece in response.body {
            guard body.count + piece.readableBytes <= answerLimit else {
                throw EngineFailure(.transcriptionFailed, "the service's answer is too long")
            }
            body.append(contentsOf: piece.readableBytesView)
        }
        return Answer(
            status: Int(response.status.code), contentType: response.headers.first(name: "Content-Type") ?? "",
            retryAfter: pause(response.headers.first(name: "Retry-After")), body: body,
            excerpt: excerpt(of: body, without: headers))
    }

    /// In seconds. A service that wants to be left alone for an hour is asked again all the same: somebody waits.
    static func pause(_ header: String?) -> Double? {
        guard let seconds = header.flatMap(Double.init), seconds.isFinite, seconds >= 0 else { return nil }
        return min(seconds, 60)
    }
}

extension URL {
    /// Fit for a log: without user, password, query and fragment.
    var withoutSecrets: String {
        guard var parts = URLComponents(url: self, resolvingAgainstBaseURL: false) else { return "" }
        (parts.user, parts.password, parts.query, parts.fragment) = (nil, nil, nil, nil)
        return parts.string ?? ""
    }
}

extension SpeechServiceClient.Answer {
    /// Throws what a refusal means: whether another attempt may succeed, and when.
    func requireSuccess() throws(EngineFailure) {
        switch status {
        case 200..<300: return
        case 408, 425, 429, 500...:
            throw EngineFailure(
                .transcriptionFailed, "the service answered \(status)", isRetryable: true, retryAfter: retryAfter,
                detail: excerpt)
        case 401, 403:
            throw EngineFailure(.transcriptionFailed, "the service refused the key with \(status)", detail: excerpt)
        case 400, 413, 415, 422:
            // Of this recording: the next one may well be taken.
            throw EngineFailure(
                .transcriptionFailed, "the service does not take the recording: \(status)", origin: .input,
                detail: excerpt)
        default:
            throw EngineFailure(.transcriptionFailed, "the service answered \(status)", detail: excerpt)
        }
    }
}

extension AudioFormat.Container {
    /// As services know it.
    var contentType: String {
        switch self {
        case .wav: "audio/wav"
        case .mp3: "audio/mpeg"
        case .m4a: "audio/mp4"
        case .webm: "audio/webm"
        case .ogg: "audio/ogg"
        case .flac: "audio/flac"
        }
    }
}
