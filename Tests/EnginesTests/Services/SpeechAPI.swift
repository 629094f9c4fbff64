import Basics
import Foundation
import TestSupport

@testable import Engines

/// Speech service within the process: OpenAI's and Deepgram's APIs, a path with plain text for programs, and the
/// faults that a service can have.
final class SpeechAPI: Sendable {
    /// Words of a good answer, with times as if each took half a second.
    static let words = ["I", "have", "a", "fever", "for", "three", "days"]
    static var text: String { words.joined(separator: " ") }

    private struct State {
        var faults: [SpeechFault] = []
        var always: SpeechFault?
        /// Models that refuse `verbose_json`, as newer ones do.
        var plainModels: Set<String> = []
        /// Whole answer in place of a good one.
        var answer: String?
    }

    private let state: LockedValue<State>
    let http: HTTPService

    /// Starts a service.
    /// - Parameters:
    ///   - faults: faults of the first requests, one for each.
    ///   - always: fault of all further requests.
    init(
        _ faults: [SpeechFault] = [], always: SpeechFault? = nil, plainModels: Set<String> = []
    ) async throws {
        let state = LockedValue(State(faults: faults, always: always, plainModels: plainModels))
        self.state = state
        http = try await HTTPService { request in state.withLock { Self.answer(to: request, &$0) } }
    }

    var requests: [HTTPService.Request] { http.requests }

    /// Answers all further requests well, or with one fault.
    func become(_ fault: SpeechFault?) { state.withLock { $0.always = fault } }

    /// Answers all further requests with a text in place of a good answer.
    func say(_ answer: String) { state.withLock { $0.answer = answer } }

    private static func answer(to request: HTTPService.Request, _ state: inout State) -> HTTPService.Answer {
        let form = request.form
        if state.plainModels.contains(form?.fields["model"]?.first ?? ""),
            form?.fields["response_format"] == ["verbose_json"]
        {
            return .text(#"{"error":{"message":"response_format is not supported"}}"#, status: 400)
        }
        if let fault = state.faults.isEmpty ? state.always : state.faults.removeFirst() { return fault.answer }
        if request.path == "/plain" { return .text(text, type: "text/plain") }
        if let answer = state.answer { return .text(answer) }
        let isPlain = form?.fields["response_format"] == ["json"]
        return .text(form == nil ? deepgram : isPlain ? #"{"text":"\#(text)"}"# : openAI)
    }

    private static var timedWords: String {
        let words = words.enumerated().map { place, word in
            #"{"word":"\#(word)","start":\#(Double(place) / 2),"end":\#(Double(place + 1) / 2)}"#
        }
        return "[\(words.joined(separator: ","))]"
    }

    private static var openAI: String { #"{"text":"\#(text)","words":\#(timedWords),"segments":[]}"# }

    private static var deepgram: String {
        let best = #"{"transcript":"\#(text)","confidence":0.98,"words":\#(timedWords)}"#
        return #"{"metadata":{"request_id":"r"},"results":{"channels":[{"alternatives":[\#(best)]}]}}"#
    }
}

/// Fault of a speech service, in place of an answer.
enum SpeechFault: String, CaseIterable {
    case error, busy, busyWithoutEnd, close, cut, silence, garbage, page
    case wrongKey, unusable, long, packed, redirect

    var answer: HTTPService.Answer {
        switch self {
        case .error: .text(#"{"error":"down"}"#, status: 500)
        case .busy: .message(status: 429, headers: [("Retry-After", "1")], body: Data())
        case .busyWithoutEnd: .message(status: 429, headers: [("Retry-After", "inf")], body: Data())
        case .close: .close
        case .cut: .cut(Data(#"{"text": ""#.utf8))
        case .silence: .silence
        case .garbage: .text(#"{"text": "half an answer"#)
        case .page: .text("<html>Sign in</html>", type: "text/html")
        case .wrongKey: .text(#"{"error":"wrong key"}"#, status: 401)
        case .unusable: .text(#"{"error":{"message":"Invalid file format"}}"#, status: 415)
        case .long: .long(byteCount: 64 << 20)
        case .packed: .message(status: 200, headers: [("Content-Encoding", "gzip")], body: GzipBomb.bytes)
        case .redirect: .message(status: 307, headers: [("Location", "/elsewhere")], body: Data())
        }
    }
}

/// Gzip stream that expands to a thousand times its length: 400 MB in 400 KB.
enum GzipBomb {
    static let bytes: Data = {
        // A megabyte of zeros, as zlib packs it best. Members one after another are one stream.
        let member =
            Data([0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 2, 3, 0xED, 0xC1, 0x31, 1, 0, 0, 0, 0xC2, 0xA0, 0xF5, 0x4F, 0x6D, 8])
            + Data([0x5F, 0xA0]) + Data(count: 1016) + Data([0x3E, 3, 0x1C, 0xEA, 0x38, 0xA7, 0, 0, 0x10, 0])
        return (0..<400).reduce(into: Data()) { stream, _ in stream += member }
    }()
}

extension HTTPService.Request {
    /// Fields and file of a `multipart/form-data` body; nil for another body.
    var form: (fields: [String: [String]], file: Data)? {
        guard let type = header("Content-Type"), type.hasPrefix("multipart/form-data"),
            let boundary = type.split(separator: "boundary=").last
        else { return nil }
        var (fields, file) = ([String: [String]](), Data())
        var rest = body[...]
        let (mark, gap) = (Data("--\(boundary)".utf8), Data("\r\n\r\n".utf8))
        while let start = rest.range(of: mark) {
            rest = rest[start.upperBound...]
            guard let head = rest.range(of: gap), let end = rest.range(of: Data("\r\n".utf8) + mark) else { break }
            let lines = String(decoding: rest[..<head.lowerBound], as: UTF8.self)
            let value = rest[head.upperBound..<end.lowerBound]
            let name = lines.firstMatch(of: /name="([^"]*)"/)?.output.1 ?? ""
            if name == "file" {
                file = Data(value)
            } else {
                fields[String(name), default: []].append(String(decoding: value, as: UTF8.self))
            }
            rest = rest[(end.lowerBound + 2)...]
        }
        return (fields, file)
    }
}
