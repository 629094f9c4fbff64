import Basics
import Foundation
import Journal
import NIOCore
import ScribeHTTP

/// Rules about live recognition.
enum SocketRules {
    static let idle = LintRule(
        "socket-idle", .warning, row: "L-16", "A socket had neither audio nor text for more than five seconds",
        why: "After ten seconds the cloud closes it with 1011 and NET-0001.",
        fix: "Send KeepAlive, as text, every three seconds while there is no audio.")
    static let late = LintRule(
        "audio-after-close", .error, row: "L-31", "Audio comes after the end of the stream was announced",
        why: "It is dropped: its words are lost.",
        fix: "Send CloseStream after the last audio, or Finalize to go on.")
    static let empty = LintRule(
        "empty-frame", .warning, row: "L-42", "An empty binary message is sent",
        why: "It ends the stream.",
        fix: "Send no message for an empty buffer, and CloseStream as text at the end.")
    static let frame = LintRule(
        "frame-size", .warning, row: "L-43", "Messages hold more than a second of audio, or less than ten milliseconds",
        why: "Large ones delay the words by their length; small ones cost more than their audio.",
        fix: "Send 20 to 250 ms in each message.")
    static let pace = LintRule(
        "stream-pace", .note, row: "L-43", "Audio comes much faster or slower than it was spoken",
        why: "A live stream comes as fast as it is spoken. The cloud limits faster ones; slower ones leave gaps.",
        fix: "Send a file to POST /v1/listen, and a microphone's samples as they come.")
    static let rate = LintRule(
        "sample-rate", .warning, row: "L-72", "The words are too quick or too slow for speech",
        why: "The samples have probably another rate than sample_rate says, or more channels.",
        fix: "Send the rate and the channels of the samples that the microphone really gives.")
    static let model = LintRule(
        "model-language", .warning, row: "recipes/deepgram.md#strict-as-the-cloud",
        "The model does not have the language, or the parameter has no effect",
        why: "The cloud refuses the pair, or recognises in another language.",
        fix: "Choose a model that has the language; GET /v1/models lists them.")
    static let page = LintRule(
        "rest-from-page", .warning, row: "L-50", "A page sends a recording with a key",
        why: "The vendor's cloud answers no page: it sends no CORS headers. And every visitor can read the key.",
        fix: "Send recordings through your own server, or open a socket with a granted token.")

    static let rules = [idle, late, empty, frame, pace, rate, model, page]

    private static let longestSilence = 5.0
    private static let frameLengths = 0.01...1.0
    /// Seconds of audio below which the pace says nothing.
    private static let shortestStream = 5.0
    private static let paces = 0.5...4.0
    /// Mean seconds of a word.
    private static let wordLengths = 0.13...0.9
    private static let fewestWords = 10
    private static let listens: Set = ["openListenSocket", "recogniseRecording"]

    /// - Parameter isMeasured: whether the recogniser's words have times of the audio. The fake invents them.
    static func found(in exchanges: [LintedExchange], isMeasured: Bool) -> [Found] {
        var found = exchanges.filter { $0.kind == .socket }.flatMap { socket($0, isMeasured: isMeasured) }
        let calls = exchanges.of(listens)
        let paired = calls.filter { call in
            call.shown.exchange.ignored.contains { ["language", "model"].contains($0.place) }
                || call.isRefused && (call.parameter("language") ?? call.parameter("model")) != nil
                    && (call.shown.exchange.reason ?? "").contains("model/language")
        }
        found += Found.ifAny(model, "\(paired.count.counted("request")) with such a model or language", paired)
        let pages = calls.filter { $0.operation == "recogniseRecording" && $0.header("origin") != nil }
        return found + Found.ifAny(page, "\(pages.count.counted("recording")) of a page", pages)
    }

    private static func socket(_ exchange: LintedExchange, isMeasured: Bool) -> [Found] {
        guard exchange.operation == "openListenSocket" else { return [] }
        let frames = exchange.shown.exchange.frames.filter { $0.sender == .client }
        let empty = frames.count { if case .binary(let body) = $0.content { body.size == 0 } else { false } }
        // A slow recogniser holds the next messages back.
        let waits = isMeasured && !exchange.isClosedAsIdle
        return (waits ? [] : silence(exchange, frames)) + afterEnd(exchange, frames)
            + sizes(exchange, frames, slowest: isMeasured ? 0 : paces.lowerBound)
            + (isMeasured ? words(exchange) : [])
            + (empty > 0 ? [Found(Self.empty, "\(empty.counted("message")) without a byte", [exchange])] : [])
    }

    private static func whole(_ number: Double) -> Int { Int(saturating: number) }

    private static func tenths(_ seconds: Double) -> String { String(format: "%.1f", seconds) }

    /// Whether the client has announced the end of its audio.
    private static func isEnd(_ frame: RecordedFrame) -> Bool {
        switch frame.content {
        case .close: return true
        case .binary(let body): return body.size == 0
        case .ping, .pong: return false
        case .text: break
        }
        guard case .text(let body) = frame.content, body.size < 256, let text = body.text else { return false }
        return String(decoding: text.readableBytesView, as: UTF8.self).contains("CloseStream")
    }

    private static func silence(_ exchange: LintedExchange, _ frames: [RecordedFrame]) -> [Found] {
        // Of a long stream the journal does not have the last messages.
        guard exchange.shown.exchange.framesLeftOut == 0 else { return [] }
        let messages = frames.prefix { !isEnd($0) }.filter {
            switch $0.content {
            case .text, .binary: true
            case .ping, .pong, .close: false
            }
        }
        var times = [exchange.startedAt] + messages.map(\.time)
        if let end = frames.first(where: isEnd) {
            times.append(end.time)
        } else if !exchange.isOpen {
            times.append(exchange.endedAt)
        }
        let longest = zip(times, times.dropFirst()).map { $1.timeIntervalSince($0) }.max() ?? 0
        guard longest > longestSilence else { return [] }
        return [Found(idle, "Nothing for \(whole(longest)) s", [exchange])]
    }

    private static func afterEnd(_ exchange: LintedExchange, _ frames: [RecordedFrame]) -> [Found] {
        guard let end = frames.firstIndex(where: isEnd) else { return [] }
        let late = frames[(end + 1)...].count {
            if case .binary(let body) = $0.content { body.size > 0 } else { false }
        }
        return late == 0 ? [] : [Found(Self.late, "\(late.counted("message")) after CloseStream", [exchange])]
    }

    /// Sizes and pace of raw samples. Of compressed audio the journal cannot tell how long it lasts.
    private static func sizes(
        _ exchange: LintedExchange, _ frames: [RecordedFrame], slowest: Double
    ) -> [Found] {
        guard exchange.parameter("encoding") == "linear16",
            let rate = exchange.parameter("sample_rate").flatMap(Double.init), rate > 0
        else { return [] }
        let perSecond = rate * 2 * max(1, exchange.parameter("channels").flatMap(Double.init) ?? 1)
        let audio = frames.compactMap { frame -> (time: Date, seconds: Double)? in
            guard case .binary(let body) = frame.content, body.size > 0 else { return nil }
            return (frame.time, Double(body.size) / perSecond)
        }
        var found: [Found] = []
        // The last message has what is left.
        let odd = audio.dropLast().filter { !frameLengths.contains($0.seconds) }
        if odd.count * 2 > audio.count, let first = odd.first {
            found.append(Found(frame, "\(odd.count) messages, first of \(whole(first.seconds * 1000)) ms", [exchange]))
        }
        let length = audio.dropLast().total(\.seconds)
        if length > shortestStream, let first = audio.first, let last = audio.last {
            let passed = last.time.timeIntervalSince(first.time)
            if passed <= 0 || !(slowest...paces.upperBound).contains(length / passed) {
                found.append(Found(pace, "\(whole(length)) s of audio within \(tenths(passed)) s", [exchange]))
            }
        }
        return found
    }

    private static func words(_ exchange: LintedExchange) -> [Found] {
        var lengths: [Double] = []
        for frame in exchange.shown.exchange.frames where frame.sender == .server {
            guard case .text(let body) = frame.content, !body.isTruncated, let text = body.text,
                let message = JSONDocument.untrusted(Data(text.readableBytesView), as: JSONValue.self),
                message["is_final"] == .bool(true),
                let words = message["channel"]?["alternatives"]?.arrayValue?.first?["words"]?.arrayValue
            else { continue }
            lengths += words.compactMap { word in
                word["start"]?.numberValue.flatMap { start in word["end"]?.numberValue.map { $0 - start } }
            }
        }
        guard lengths.count >= fewestWords else { return [] }
        let mean = lengths.total { $0 } / Double(lengths.count)
        guard !wordLengths.contains(mean) else { return [] }
        return [Found(rate, "\(lengths.count) words of \(whole(mean * 1000)) ms on average", [exchange])]
    }
}

extension LintedExchange {
    /// Whether the server has closed the socket for silence.
    fileprivate var isClosedAsIdle: Bool {
        shown.exchange.frames.contains {
            if case .close(1011, _) = $0.content { $0.sender == .server } else { false }
        }
    }
}
