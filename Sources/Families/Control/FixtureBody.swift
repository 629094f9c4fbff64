import Engines
import ScribeDomain

/// JSON body of a fixture.
struct FixtureBody {
    let fixture: Fixture

    private static let allowed: Set<String> = [
        "text", "chunks", "note", "warning", "failure", "delay", "sha256", "client", "next", "refuses",
    ]
    private static let textLimit = 256 << 10
    private static let mostChunks = 1000
    private static let mostSegments = 1000
    /// Longest time of a segment within its chunk, in seconds.
    private static let longestTime = 86_400.0

    /// - Throws: ``ScribeError/invalidRequest(field:problem:)``.
    init(_ value: JSONValue, named name: String) throws(ScribeError) {
        let fields = try SeedFields(value, at: "fixture", allowed: Self.allowed)
        var fixture = Fixture(name: name)
        fixture.text = try fields.text("text", upTo: Self.textLimit, lines: true)
        fixture.note = try fields.text("note", upTo: Self.textLimit, lines: true)
        if let chunks = fields.value("chunks") {
            guard fixture.text == nil else { throw fields.problem("chunks", "excludes 'text'") }
            fixture.spoken = try Self.chunks(chunks, fields)
        }
        fixture.failure = try Self.code("failure", fields)
        fixture.warning = try Self.code("warning", fields)
        guard fixture.failure == nil || fixture.warning == nil else {
            throw fields.problem("warning", "excludes 'failure'")
        }
        if let text = try fields.text("delay", upTo: 64) {
            guard let delay = ClockDuration(text)?.duration, delay <= .seconds(366 * 86_400) else {
                throw fields.problem("delay", "must be a duration up to 366d, such as 20s")
            }
            fixture.delay = delay / .seconds(1)
        }
        if let hash = try fields.text("sha256", upTo: 64) {
            guard hash.utf8.count == 64, hash.utf8.allSatisfy(\.isHexDigit) else {
                throw fields.problem("sha256", "must be 64 hexadecimal digits")
            }
            fixture.sha256 = hash.lowercased()
        }
        fixture.client = try fields.text("client")
        fixture.isForNext = try Self.flag("next", fields)
        if fields.value("refuses") != nil {
            fixture.refuses = try fields.texts("refuses", atMost: 4).map { text throws(ScribeError) in
                guard let step = Fixture.Step(rawValue: text) else {
                    let known = Fixture.Step.allCases.map(\.rawValue)
                    throw fields.problem(
                        "refuses", "has an unknown step; the nearest is \(nearestName(to: text, among: known))")
                }
                return step
            }
        }
        self.fixture = fixture
    }

    private static func flag(_ name: String, _ fields: SeedFields) throws(ScribeError) -> Bool {
        switch fields.value(name) {
        case nil: return false
        case .bool(let flag): return flag
        default: throw fields.problem(name, "must be true or false")
        }
    }

    private static func code(_ name: String, _ fields: SeedFields) throws(ScribeError) -> Diagnostic.Code? {
        guard let text = try fields.text(name, upTo: 64) else { return nil }
        guard let code = Diagnostic.Code(rawValue: text) else {
            let near = nearestName(to: text, among: Diagnostic.Code.allCases.map(\.rawValue))
            throw fields.problem(name, "is not known; the nearest is \(near)")
        }
        return code
    }

    /// Chunks: each a text, or a list of segments with speakers and times.
    private static func chunks(
        _ value: JSONValue, _ fields: SeedFields
    ) throws(ScribeError) -> [[Fixture.SpokenSegment]] {
        guard case .array(let items) = value, (1...mostChunks).contains(items.count) else {
            throw fields.problem("chunks", "must be a list of 1 to \(mostChunks)")
        }
        var chunks: [[Fixture.SpokenSegment]] = []
        for (index, item) in items.enumerated() {
            if let text = item.stringValue {
                guard text.utf8.count <= textLimit else { throw fields.problem("chunks", "has too long a text") }
                // Two and a half words a second, as people speak.
                let end = Double(text.split(separator: " ").count) / 2.5
                chunks.append([.init(text: text.storable, speaker: nil, start: 0, end: end)])
                continue
            }
            let place = "fixture.chunks[\(index)]"
            let parts = try SeedFields.objects(
                item, at: place, atMost: mostSegments, allowed: ["text", "speaker", "start", "end"])
            chunks.append(try segments(parts))
        }
        return chunks
    }

    private static func segments(_ parts: [SeedFields]) throws(ScribeError) -> [Fixture.SpokenSegment] {
        var segments: [Fixture.SpokenSegment] = []
        var last = 0.0
        for part in parts {
            let text = try part.required("text", upTo: textLimit, lines: true)
            let speaker = try part.count("speaker")
            guard speaker ?? 0 <= 1000 else { throw part.problem("speaker", "must be at most 1000") }
            let start = part.value("start")?.numberValue ?? last
            let end = part.value("end")?.numberValue ?? start + Double(text.split(separator: " ").count) / 2.5
            for name in ["start", "end"] where part.value(name) != nil && part.value(name)?.numberValue == nil {
                throw part.problem(name, "must be a number of seconds")
            }
            guard start >= last, end >= start, end <= longestTime else {
                throw part.problem("start", "and 'end' must be in order, from 0 to \(Int(longestTime))")
            }
            last = end
            segments.append(.init(text: text, speaker: speaker, start: start, end: end))
        }
        return segments
    }
}

extension Fixture {
    /// The fixture as its body has it.
    var members: [JSON.Member] {
        var members: [JSON.Member] = [("name", .string(name ?? ""))]
        func add(_ name: String, _ text: String?) { if let text { members.append((name, .string(text))) } }
        add("text", text)
        if let spoken {
            members.append(
                (
                    "chunks",
                    .array(spoken) { chunk in
                        .array(chunk) { segment in
                            var fields: [JSON.Member] = [("text", .string(segment.text))]
                            if let speaker = segment.speaker { fields.append(("speaker", .integer(speaker))) }
                            return .object(
                                fields + [("start", .number(segment.start)), ("end", .number(segment.end))])
                        }
                    }
                ))
        }
        add("note", note)
        add("warning", warning?.rawValue)
        add("failure", failure?.rawValue)
        add("delay", delay.map { ClockDuration.text($0) })
        add("sha256", sha256)
        add("client", client)
        if isForNext { members.append(("next", .bool(true))) }
        if let refuses { members.append(("refuses", .array(refuses) { .string($0.rawValue) })) }
        return members
    }
}

extension UInt8 {
    fileprivate var isHexDigit: Bool {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
            UInt8(ascii: "A")...UInt8(ascii: "F"):
            true
        default: false
        }
    }
}
