import Basics
import Foundation
import HTTPTypes
import Journal
import NIOCore
import ScribeDomain

/// Condition on a body: a pattern of the whole text, or JSON that the body must contain.
enum BodyMatch: Sendable {
    case text(Pattern)
    case json(JSONValue)

    /// The condition as the operator wrote it.
    var text: String {
        switch self {
        case .text(let pattern): pattern.text
        case .json(let value): value.shown
        }
    }

    func verdict(on body: RecordedBody) -> MatchVerdict {
        verdict(
            on: body,
            missing: body.isTruncated ? "only \(JournalSettings.bodyLimit) of \(body.size) bytes are kept" : nil)
    }

    /// - Parameter missing: Reason that only the beginning of the body is there; nil for all of it.
    func verdict(on body: RecordedBody, missing: String?) -> MatchVerdict {
        guard let shown = body.shownText else {
            return body.size == 0
                ? .fails(found: "none") : .unknown(why: "\(body.size) bytes that are no text are not kept")
        }
        switch self {
        case .text(let pattern):
            guard let missing else {
                return MatchVerdict(pattern.matches(shown), found: String(shown.prefix(200))).unless(body.masked)
            }
            guard let holds = pattern.matches(beginning: shown.wholeCharacters) else { return .unknown(why: missing) }
            return MatchVerdict(holds, found: String(shown.prefix(200))).unless(body.masked)
        case .json(let expected):
            if let missing { return .unknown(why: missing) }
            guard let found = JSONDocument.untrusted(Data(shown.utf8), as: JSONValue.self) else {
                return MatchVerdict.fails(found: "no JSON").unless(body.masked)
            }
            return expected.verdict(on: found, at: "")
        }
    }
}

extension String {
    /// The text without a last character that was cut.
    fileprivate var wholeCharacters: Substring {
        var text = self[...]
        while text.last == "\u{FFFD}" { text.removeLast() }
        return text
    }
}

extension RecordedBody {
    /// Reason that ``shownText`` hides something; nil if it does not.
    fileprivate var masked: String? {
        text.map { String(decoding: $0.readableBytesView, as: UTF8.self) } == shownText ? nil : MatchVerdict.masked
    }
}

extension ShownExchange {
    /// Whether a pattern fits the path.
    func verdict(onPath pattern: Pattern) -> MatchVerdict {
        guard let path else { return .fails(found: "none") }
        return MatchVerdict(pattern.matches(path), found: path).unless(hiddenInPath)
    }

    func verdict(onTransaction id: String) -> MatchVerdict {
        MatchVerdict(transactions.contains(id), found: "another").unless(hiddenInPath)
    }

    private var hiddenInPath: String? {
        let sent = request.path?.split(separator: "?", omittingEmptySubsequences: false).first.map(String.init)
        return sent == path ? nil : MatchVerdict.masked
    }

    func verdict(on condition: FieldCondition) -> MatchVerdict {
        let (shown, sent): ([String], [String])
        switch condition.place {
        case .header: (shown, sent) = headers(condition.name)
        case .query: (shown, sent) = parameters(condition.name)
        }
        guard !condition.holds(for: shown) else { return .holds }
        let found = shown.map { FieldCondition(condition.place, condition.name, Pattern($0)).text }
        return MatchVerdict.fails(found: found.isEmpty ? "none" : found.joined(separator: ", "))
            .unless(shown == sent || condition.pattern == nil ? nil : MatchVerdict.masked)
    }

    var verdictOnNoBody: MatchVerdict {
        guard let body = exchange.requestBody else { return .holds }
        guard body.size == 0 else { return .fails(found: "\(body.size) bytes") }
        if request.announcesBody { return .fails(found: "one that was not read") }
        return body.isWhole || request.announcesNoBody ? .holds : .unknown(why: Self.notRead)
    }

    func verdict(onBody match: BodyMatch) -> MatchVerdict {
        guard let body = exchange.requestBody else { return .fails(found: "none") }
        guard body.size > 0 else {
            return body.isWhole || request.announcesNoBody ? .fails(found: "none") : .unknown(why: Self.notRead)
        }
        guard !body.isWhole else { return match.verdict(on: body) }
        return match.verdict(on: body, missing: "only the first \(body.size) bytes were read")
    }

    private static let notRead = "the body was not read"

    /// Verdict on the frames of a socket, of which one must hold.
    func verdict(onFrame match: BodyMatch) -> MatchVerdict {
        var unknown: MatchVerdict?
        for case .text(let body) in exchange.frames.map(\.content) {
            switch match.verdict(on: body) {
            case .holds: return .holds
            case .unknown(let why): unknown = .unknown(why: why)
            case .fails: continue
            }
        }
        return (unknown ?? .fails(found: "none of \(exchange.frames.count) frames"))
            .unless(exchange.framesLeftOut > 0 ? "\(exchange.framesLeftOut) frames were not kept" : nil)
    }
}

extension JSONValue {
    /// Whether another value has all of this one. A text may be a pattern.
    /// - Parameter path: Place of the value, which a failure names.
    fileprivate func verdict(on found: JSONValue, at path: String) -> MatchVerdict {
        let place = path.isEmpty ? "" : "\(path): "
        switch (self, found) {
        case (.object(let members), .object(let others)):
            return members.sorted { $0.key < $1.key }.reduce(.holds) { verdict, member in
                let inner = path.isEmpty ? member.key : "\(path).\(member.key)"
                return verdict.and(
                    others[member.key].map { member.value.verdict(on: $0, at: inner) } ?? .fails(found: "no \(inner)"))
            }
        case (.array(let values), .array(let others)):
            guard values.count == others.count else { return .fails(found: "\(place)\(others.count) items") }
            return zip(values, others).enumerated().reduce(.holds) { verdict, item in
                verdict.and(item.element.0.verdict(on: item.element.1, at: "\(path).\(item.offset)"))
            }
        case (.string(let text), .string(let other)) where Pattern(text).matches(other): return .holds
        case (_, .string(let other)) where other.contains(SecretMask.mark):
            return .unknown(why: place + MatchVerdict.masked)
        default:
            let isEqual = self == found || numberValue != nil && numberValue == found.numberValue
            return isEqual ? .holds : .fails(found: "\(place)\(found.shown)")
        }
    }

    /// The value as short JSON.
    fileprivate var shown: String {
        String(String(decoding: JSON.value(self).bytes, as: UTF8.self).prefix(200))
    }
}
