package import Foundation
package import FoundationNetworking
import NIOConcurrencyHelpers
import ScribeDomain

/// Sends files to a speech service and takes its answers, within limits: nothing is followed elsewhere, and no answer
/// is taken that is longer than one can be.
package final class SpeechServiceClient: NSObject, Sendable {
    /// What a service said.
    package struct Answer: Sendable {
        package let status: Int
        package let contentType: String
        /// From `Retry-After`, in seconds.
        package let retryAfter: Double?
        package let body: Data
    }

    /// The longest answer, in bytes: an hour of words with their times is a third of that.
    static let answerLimit = 8 << 20

    private struct Exchange {
        let continuation: CheckedContinuation<Answer, any Error>
        var body = Data()
        var isTooLong = false
    }

    private let exchanges = NIOLockedValueBox<[Int: Exchange]>([:])
    private let sessionBox = NIOLockedValueBox<URLSession?>(nil)
    private let timeLimit: TimeInterval

    /// - Parameter timeLimit: for a silence of the service, in seconds.
    package init(timeLimit: TimeInterval) {
        self.timeLimit = timeLimit
        super.init()
    }

    private var session: URLSession {
        sessionBox.withLockedValue { session in
            if let session { return session }
            let configuration = URLSessionConfiguration.ephemeral
            configuration.httpMaximumConnectionsPerHost = 16
            configuration.timeoutIntervalForRequest = timeLimit
            configuration.timeoutIntervalForResource = 24 * 60 * 60
            configuration.httpCookieStorage = nil
            configuration.urlCache = nil
            let made = URLSession(configuration: configuration, delegate: self, delegateQueue: nil)
            session = made
            return made
        }
    }

    /// Sends a request with a file as its body, which is not held in memory.
    /// - Throws: ``TranscriptionFailure``, or `CancellationError`.
    package func send(_ request: URLRequest, file path: String) async throws -> Answer {
        var request = request
        // A connection that the service has given up meanwhile would be noticed only with half the file sent, and
        // Foundation on Linux then waits for ever instead of beginning anew.
        request.setValue("close", forHTTPHeaderField: "Connection")
        // A kilobyte of an answer that is packed can be a megabyte.
        request.setValue("identity", forHTTPHeaderField: "Accept-Encoding")
        let task = session.uploadTask(with: request, fromFile: URL(fileURLWithPath: path))
        do {
            return try await withTaskCancellationHandler {
                try await withCheckedThrowingContinuation { continuation in
                    exchanges.withLockedValue { $0[task.taskIdentifier] = Exchange(continuation: continuation) }
                    task.resume()
                }
            } onCancel: {
                task.cancel()
            }
        } catch let error as URLError {
            try Task.checkCancellation()
            let isTimeout = error.code == .timedOut
            throw TranscriptionFailure(
                isTimeout ? .transcriptionTimeout : .transcriptionFailed, "the service did not answer: \(error.code)",
                isRetryable: true)
        }
    }
}

extension SpeechServiceClient: URLSessionDataDelegate {
    /// Refuses an answer by its head that is packed all the same: it would be unpacked faster than it could be counted.
    package func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        let encoding = (response as? HTTPURLResponse)?.value(forHTTPHeaderField: "Content-Encoding") ?? "identity"
        let isAllowed = encoding.lowercased() == "identity" && response.expectedContentLength <= Int64(Self.answerLimit)
        if !isAllowed { exchanges.withLockedValue { $0[dataTask.taskIdentifier]?.isTooLong = true } }
        completionHandler(isAllowed ? .allow : .cancel)
        if !isAllowed { dataTask.cancel() }
    }

    package func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        let isTooLong = exchanges.withLockedValue { exchanges in
            guard var exchange = exchanges[dataTask.taskIdentifier] else { return false }
            if exchange.body.count + data.count > Self.answerLimit {
                exchange.isTooLong = true
                exchange.body = Data()
            } else if !exchange.isTooLong {
                exchange.body += data
            }
            exchanges[dataTask.taskIdentifier] = exchange
            return exchange.isTooLong
        }
        if isTooLong { dataTask.cancel() }
    }

    package func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        guard let exchange = exchanges.withLockedValue({ $0.removeValue(forKey: task.taskIdentifier) }) else { return }
        if exchange.isTooLong {
            exchange.continuation.resume(
                throwing: TranscriptionFailure(.transcriptionFailed, "the service's answer is too long, or packed"))
        } else if let error {
            exchange.continuation.resume(throwing: error)
        } else if let response = task.response as? HTTPURLResponse {
            let answer = Answer(
                status: response.statusCode, contentType: response.value(forHTTPHeaderField: "Content-Type") ?? "",
                retryAfter: Self.pause(response.value(forHTTPHeaderField: "Retry-After")), body: exchange.body)
            exchange.continuation.resume(returning: answer)
        } else {
            exchange.continuation.resume(throwing: URLError(.badServerResponse))
        }
    }

    /// In seconds. A service that wants to be left alone for an hour is asked again all the same: somebody waits.
    static func pause(_ header: String?) -> Double? {
        guard let seconds = header.flatMap(Double.init), seconds.isFinite, seconds >= 0 else { return nil }
        return min(seconds, 60)
    }

    /// Speech goes where the configuration says and nowhere else.
    package func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        completionHandler(nil)
        // Without a request to go on with, Foundation on Linux would wait for one for ever.
        let exchange = exchanges.withLockedValue { $0.removeValue(forKey: task.taskIdentifier) }
        exchange?.continuation.resume(
            throwing: TranscriptionFailure(
                .transcriptionFailed, "the service redirects, with \(response.statusCode); name its final address"))
        task.cancel()
    }
}

extension SpeechServiceClient.Answer {
    /// Throws what a refusal means: whether another attempt may succeed, and when.
    func requireSuccess() throws(TranscriptionFailure) {
        switch status {
        case 200..<300: return
        case 408, 425, 429, 500...:
            throw TranscriptionFailure(
                .transcriptionFailed, "the service answered \(status)", isRetryable: true, retryAfter: retryAfter)
        case 401, 403:
            throw TranscriptionFailure(.transcriptionFailed, "the service refused the key with \(status)")
        case 400, 413, 415, 422:
            // Of this recording: the next one may well be taken.
            throw TranscriptionFailure(
                .transcriptionFailed, "the service does not take the recording: \(status)", origin: .recording)
        default:
            throw TranscriptionFailure(.transcriptionFailed, "the service answered \(status)")
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
