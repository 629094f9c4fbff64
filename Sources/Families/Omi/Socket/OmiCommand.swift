import Basics
import Foundation
import ScribeDomain

/// Text messages of a device (streaming.md 4.3). Unknown and malformed messages are ignored.
enum OmiCommand: Hashable, Sendable {
    /// Recognised words of one speaker, not yet stored and without an id.
    struct Words: Hashable, Sendable {
        let text: String
        let speaker: String
        let isUser: Bool
        let start: Double
        let end: Double
        let confidence: Double?
    }

    /// Recognised on the device.
    case words([Words])
    /// Recognised by another provider, by its name.
    case suggested([Words], provider: String)
    case assigned(speaker: Int, person: String, segments: [String])
    case picture(OmiPicture.Piece)

    init?(_ text: String) {
        guard
            let body = JSONDocument.untrusted(
                Data(text.utf8), as: JSONValue.self, upTo: JSONDocument.maxValuesOfMessage)
        else { return nil }
        switch body["type"]?.stringValue {
        case "transcript_segment":
            guard Self.isFinal(body), case let words = Words.all(in: body), !words.isEmpty else { return nil }
            self = .words(words)
        case "suggested_transcript":
            guard let segments = body["segments"]?.arrayValue else { return nil }
            self = .suggested(
                segments.flatMap(Words.all), provider: Self.name(body["stt_provider"]) ?? "custom")
        case "speaker_assigned":
            guard let speaker = body["speaker_id"]?.number.flatMap({ Int(exactly: $0) }) else { return nil }
            let ids = (body["segment_ids"]?.arrayValue ?? []).prefix(1000).compactMap(\.stringValue)
            self = .assigned(speaker: speaker, person: Self.name(body["person_id"]) ?? "", segments: ids)
        case "image_chunk":
            guard let piece = OmiPicture.Piece(body) else { return nil }
            self = .picture(piece)
        default: return nil
        }
    }

    /// Whether the segment is final. A segment without `is_final` is, also with null, which means the same.
    static func isFinal(_ body: JSONValue) -> Bool {
        ![.bool(false), .integer(0), .string("false")].contains(body["is_final"])
    }

    /// Provider name of text that the device recognised itself.
    static let ownProvider = "edge_asr"

    static func name(_ value: JSONValue?) -> String? {
        value?.stringValue.flatMap { $0.isPlain && (1...100).contains($0.utf8.count) ? $0 : nil }
    }
}

extension OmiCommand.Words {
    /// Parses the words of a segment. A long text is cut between words; each part has the times of the whole.
    /// - Returns: Empty if the text is.
    static func all(in body: JSONValue) -> [OmiCommand.Words] {
        guard let text = body["text"]?.stringValue?.trimmingCharacters(in: .whitespacesAndNewlines).storable else {
            return []
        }
        return parts(of: text).map { part in
            OmiCommand.Words(
                text: part, speaker: OmiCommand.name(body["speaker"]) ?? ConversationSegment.defaultSpeaker,
                isUser: body["is_user"] == .bool(true), start: body["start"]?.number ?? 0,
                end: body["end"]?.number ?? 0,
                confidence: body["confidence"]?.number.flatMap { (0...1).contains($0) ? $0 : nil })
        }
    }

    private static func parts(of text: String) -> [String] {
        var parts: [String] = []
        var rest = text.unicodeScalars[...]
        while let limit = rest.index(rest.startIndex, offsetBy: OmiLimits.segment, limitedBy: rest.endIndex),
            limit < rest.endIndex
        {
            // A single longer word is cut too.
            let end = rest[..<limit].lastIndex { $0.properties.isWhitespace } ?? limit
            parts.append(String(rest[..<end]))
            rest = rest[end...].drop { $0.properties.isWhitespace }
        }
        return (parts + [String(rest)]).filter { !$0.isEmpty }
    }
}

extension [OmiCommand.Words] {
    /// Splits words into parts of about `size` bytes, with at least one segment each.
    ///
    /// A segment costs some 200 bytes beside its text.
    func parts(of size: Int) -> [ArraySlice<OmiCommand.Words>] {
        var parts: [ArraySlice<OmiCommand.Words>] = []
        var rest = self[...]
        while !rest.isEmpty {
            var sum = 0
            let part = rest.prefix { words in
                defer { sum += words.text.utf8.count + 200 }
                return sum < size
            }
            parts.append(part)
            rest = rest.dropFirst(part.count)
        }
        return parts
    }
}

extension ConversationSegment {
    init(_ words: OmiCommand.Words, id: String, by provider: String) {
        self.init(
            id: id, text: words.text, speaker: words.speaker, isUser: words.isUser, start: words.start, end: words.end,
            provider: provider, confidence: words.confidence)
    }
}

extension JSONValue {
    /// The value as a finite double; nil for other types.
    fileprivate var number: Double? {
        numberValue.flatMap { $0.isFinite ? $0 : nil }
    }
}
