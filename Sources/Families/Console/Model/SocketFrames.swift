import Basics
import Foundation
import Journal
import ScribeHTTP

/// The messages of a socket for a page, and what they said.
struct SocketFrames {
    /// Most lines of the page.
    private static let maxLines = 500
    /// Room for messages that are laid out, in bytes: their markup is twenty times as long.
    private static let layoutRoom = 128 << 10
    /// Longest beginning of a message on its line, in characters.
    private static let longestBeginning = 160

    /// Lines, one for all messages without text in a row.
    private(set) var models: [ConsoleViews.Model] = []
    /// Number of messages that are not shown.
    let leftOut: Int
    /// The final words that the server sent.
    let said: String

    init(_ shown: ShownExchange) {
        let exchange = shown.exchange
        var (turns, order): ([String: String], [String]) = ([:], [])
        var shownFrames = 0
        var room = Self.layoutRoom
        var binary: (first: RecordedFrame, count: Int, bytes: Int)?
        var lines: [ConsoleViews.Model] = []
        func offset(_ frame: RecordedFrame) -> String {
            "+" + RecordingState.precise(max(0, frame.time.timeIntervalSince(exchange.startedAt)))
        }
        func line(_ frame: RecordedFrame, _ beginning: String, _ whole: Any? = nil) {
            var model: ConsoleViews.Model = [
                "at": offset(frame), "from": frame.sender.rawValue, "beginning": beginning,
            ]
            model["whole"] = whole
            lines.append(model)
        }
        func closeBinary() {
            guard let (first, count, bytes) = binary else { return }
            line(first, "\(count == 1 ? "1 binary message" : "\(count) binary messages"), \(ConsoleFamily.size(bytes))")
            binary = nil
        }
        for frame in exchange.frames {
            if case .text(let body) = frame.content, frame.sender == .server, let text = body.shownText {
                for (id, words) in Self.finalWords(of: text) {
                    if turns.updateValue(words, forKey: id ?? "\(order.count)") == nil {
                        order.append(id ?? "\(order.count)")
                    }
                }
            }
            guard lines.count < Self.maxLines else { continue }
            shownFrames += 1
            if case .binary(let body) = frame.content {
                if let known = binary, known.first.sender == frame.sender {
                    binary = (known.first, known.count + 1, known.bytes + body.size)
                    continue
                }
                closeBinary()
                binary = (frame, 1, body.size)
                continue
            }
            closeBinary()
            switch frame.content {
            case .text(let body):
                let text = body.shownText ?? "\(body.size) bytes"
                let layout = text.utf8.count > room ? nil : JSONLayout.markup(of: text)
                if layout != nil { room -= text.utf8.count }
                let isLong = text.count > Self.longestBeginning
                line(
                    frame, isLong ? "\(text.prefix(Self.longestBeginning))…" : text,
                    layout ?? (isLong ? text as Any : nil))
            case .binary: break
            case .ping: line(frame, "ping")
            case .pong: line(frame, "pong")
            case .close(let code, let reason): line(frame, "close \(code) \(reason)")
            }
        }
        closeBinary()
        models = lines
        leftOut = exchange.frames.count - shownFrames + exchange.framesLeftOut
        said = order.compactMap { turns[$0] }.joined(separator: "\n")
    }

    /// Final words of a message, with the id of the segment that they replace: Deepgram's results, or Omi's segments.
    private static func finalWords(of text: String) -> [(id: String?, words: String)] {
        guard let value = JSONDocument.untrusted(Data(text.utf8), as: JSONValue.self) else { return [] }
        if case .array(let segments) = value {
            return segments.compactMap { segment in
                segment["text"]?.stringValue.map { (segment["id"]?.stringValue, $0) }
            }
        }
        guard value["is_final"] == .bool(true),
            let words = value["channel"]?["alternatives"]?.arrayValue?.first?["transcript"]?.stringValue,
            !words.isEmpty
        else { return [] }
        return [(nil, words)]
    }
}
