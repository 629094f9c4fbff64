import Basics
import Engines
import ScribeDomain
import ScribeHTTP

/// JSON body of a fixture.
struct FixtureBody {
    let fixture: Fixture

    private static let allowed = [
        "text", "chunks", "note", "warning", "failure", "delay", "sha256", "client", "next", "refuses",
    ]
    private static let textLimit = 256 << 10
    private static let maxChunks = 1000
    private static let maxSegments = 1000
    /// Longest time of a segment within its chunk, in seconds.
    private static let longestTime = 86_400.0

    /// - Throws: ``ScribeError/invalidRequest(field:problem:)``.
    init(_ value: JSONValue, named name: String) throws(ScribeError) {
        let fields = try JSONFields(value, at: "fixture", allowed: Self.allowed)
        var fixture = Fixture(name: name)
        fixture.text = try fields.text("text", upTo: Self.textLimit, lines: true)
        fixture.note = try fields.text("note", upTo: Self.textLimit, lines: true)
        if let chunks = fields["chunks"] {
            guard fixture.text == nil else { throw fields.problem("chunks", "excludes 'text'") }
            fixture.spoken = try Self.chunks(chunks, fields)
        }
        fixture.failure = try fields.choice("failure")
        fixture.warning = try fields.choice("warning")
        guard fixture.failure == nil || fixture.warning == nil else {
            throw fields.problem("warning", "excludes 'failure'")
        }
        fixture.delay = try fields.duration("delay", upTo: "366d").map { $0 / .seconds(1) }
        if let hash = try fields.text("sha256", upTo: 64) {
            guard hash.utf8.count == 64, Hex.decode(hash) != nil else {
                throw fields.problem("sha256", "must be 64 hexadecimal digits")
            }
            fixture.sha256 = hash.lowercased()
        }
        fixture.client = try fields.text("client")
        fixture.isForNext = try fields.flag("next")
        if fields.has("refuses") { fixture.refuses = try fields.choices("refuses") }
        self.fixture = fixture
    }

    /// Chunks: each a text, or a list of segments with speakers and times.
    private static func chunks(
        _ value: JSONValue, _ fields: JSONFields
    ) throws(ScribeError) -> [[Fixture.SpokenSegment]] {
        guard case .array(let items) = value, (1...maxChunks).contains(items.count) else {
            throw fields.problem("chunks", "must be a list of 1 to \(maxChunks)")
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
            let parts = try JSONFields.objects(
                item, at: place, atMost: maxSegments, allowed: ["text", "speaker", "start", "end"])
            chunks.append(try segments(parts))
        }
        return chunks
    }

    private static func segments(_ parts: [JSONFields]) throws(ScribeError) -> [Fixture.SpokenSegment] {
        var segments: [Fixture.SpokenSegment] = []
        var last = 0.0
        for part in parts {
            let text = try part.required("text", upTo: textLimit, lines: true)
            let speaker = try part.integer("speaker", from: 0, to: 1000)
            let start = part["start"]?.numberValue ?? last
            let end = part["end"]?.numberValue ?? start + Double(text.split(separator: " ").count) / 2.5
            for name in ["start", "end"] where part.has(name) && part[name]?.numberValue == nil {
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
    var json: JSON {
        let chunks = spoken.map { chunks in JSON.array(chunks) { .array($0, \.json) } }
        return [
            "name": .string(name ?? ""), "text": text.map(JSON.string), "chunks": chunks,
            "note": note.map(JSON.string), "warning": warning.map { .string($0.rawValue) },
            "failure": failure.map { .string($0.rawValue) }, "delay": delay.map { .string(ClockDuration.text($0)) },
            "sha256": sha256.map(JSON.string), "client": client.map(JSON.string), "next": isForNext ? true : nil,
            "refuses": refuses.map { .array($0) { .string($0.rawValue) } },
        ]
    }
}

extension Fixture.SpokenSegment {
    fileprivate var json: JSON {
        [
            "text": .string(text), "speaker": speaker.map(JSON.integer), "start": .number(start), "end": .number(end),
        ]
    }
}
