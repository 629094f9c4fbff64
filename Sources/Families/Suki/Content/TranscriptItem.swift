import Crypto
import Foundation
import ScribeDomain
import ScribeHTTP

/// One stretch of what was said (suki.md 3.10).
struct TranscriptItem: Encodable {
    struct Offset: Encodable {
        let hours: Int
        let minutes: Int
        let seconds: Int
        let nanos: Int

        /// - Parameter seconds: from the beginning of the audio.
        init(_ offset: Double) {
            let milliseconds = Int((min(max(0, offset), 1e9) * 1000).rounded())
            hours = milliseconds / 3_600_000
            minutes = milliseconds / 60_000 % 60
            seconds = milliseconds / 1000 % 60
            nanos = milliseconds % 1000 * 1_000_000
        }
    }

    let id: String
    let recording: String
    let text: String
    let language: String
    let start: String
    let end: String
    let startOffset: Offset
    let endOffset: Offset

    enum CodingKeys: String, CodingKey {
        case id = "transcript_id"
        case recording = "recording_id"
        case text = "transcript"
        case language = "lang_id"
        case start = "start_time"
        case end = "end_time"
        case startOffset = "start_offset"
        case endOffset = "end_offset"
    }

    /// - Parameters:
    ///   - outcomes: what was heard in each file, in order.
    ///   - segments: those that the files belong to.
    ///   - language: that was spoken; nil where nobody says.
    static func list(
        _ outcomes: [ChunkOutcome], in segments: [AmbientSegment], language: String?
    ) -> [TranscriptItem] {
        var places: [String: (recording: String, spokenAt: Date, offset: Double, seconds: Double)] = [:]
        var before = 0.0
        for segment in segments {
            var offset = 0.0
            for file in segment.files {
                let time = segment.startedAt.addingTimeInterval(offset)
                places[file.name] = (segment.recording, time, before + offset, file.seconds)
                offset += file.seconds
            }
            before += offset
        }
        return outcomes.compactMap { outcome in
            guard let place = places[outcome.file], let speech = try? outcome.result.get(), !speech.text.isEmpty else {
                return nil
            }
            // By its words where their times are known: what is before and after them was silence.
            let within = 0...max(0, place.seconds)
            let first = within.nearest(to: speech.words.first?.start ?? 0)
            let last = max(first, within.nearest(to: speech.words.last?.end ?? place.seconds))
            let start = place.spokenAt.addingTimeInterval(first)
            return TranscriptItem(
                id: ULID.text(at: start, Array(SHA256.hash(data: Data(outcome.file.utf8)).prefix(10))),
                recording: place.recording, text: speech.text,
                language: language.map { String($0.prefix { $0 != "-" }) } ?? "en", start: start.nanoTime,
                end: place.spokenAt.addingTimeInterval(last).nanoTime, startOffset: Offset(place.offset + first),
                endOffset: Offset(place.offset + last))
        }
    }
}

extension ClosedRange<Double> {
    /// What a recogniser says is not always where its recording is.
    fileprivate func nearest(to value: Double) -> Double {
        value.isNaN ? lowerBound : Swift.min(Swift.max(value, lowerBound), upperBound)
    }
}

extension Date {
    /// RFC 3339 with nine digits after the second.
    var nanoTime: String {
        let milliseconds = Int64((timeIntervalSince1970 * 1000).rounded())
        let fraction = (milliseconds % 1000 + 1000) % 1000
        let second = Date(timeIntervalSince1970: Double((milliseconds - fraction) / 1000)).apiTime
        return "\(second.dropLast()).\(Int(fraction).padded(to: 3))000000Z"
    }
}
