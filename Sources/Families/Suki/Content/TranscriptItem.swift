import Basics
import Crypto
import Foundation
import ScribeDomain
import ScribeHTTP

/// Encodes an ambient session's transcript, one item per audio file (suki.md 3.10).
enum TranscriptItem {
    /// Encodes an offset.
    /// - Parameter seconds: From the beginning of the audio.
    private static func offset(_ seconds: Double) -> JSON {
        let milliseconds = Int(saturating: (min(max(0, seconds), 1e9) * 1000).rounded())
        return [
            "hours": .integer(milliseconds / 3_600_000), "minutes": .integer(milliseconds / 60_000 % 60),
            "seconds": .integer(milliseconds / 1000 % 60), "nanos": .integer(milliseconds % 1000 * 1_000_000),
        ]
    }

    /// Encodes the transcript items of all audio files.
    /// - Parameters:
    ///   - outcomes: Recognised speech of each file, in order.
    ///   - segments: Segments that the files belong to.
    ///   - language: Spoken language; nil if unknown.
    static func list(
        _ outcomes: [ChunkOutcome], in segments: [AudioSegment], language: String?
    ) -> [JSON] {
        let spoken = language.map { String($0.prefix { $0 != "-" }) } ?? "en"
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
        return outcomes.compactMap { outcome -> JSON? in
            guard let place = places[outcome.file], let speech = try? outcome.result.get(), !speech.text.isEmpty else {
                return nil
            }
            // From the first word to the last where word times are known; silence surrounds them.
            let within = 0...max(0, place.seconds)
            let first = within.nearest(to: speech.words.first?.start ?? 0)
            let last = max(first, within.nearest(to: speech.words.last?.end ?? place.seconds))
            let start = place.spokenAt.addingTimeInterval(first)
            let id = ULID.text(at: start, Array(SHA256.hash(data: Data(outcome.file.utf8)).prefix(10)))
            return [
                "transcript_id": .string(id), "recording_id": .string(place.recording),
                "transcript": .string(speech.text), "lang_id": .string(spoken), "start_time": .string(start.nanoTime),
                "end_time": .string(place.spokenAt.addingTimeInterval(last).nanoTime),
                "start_offset": offset(place.offset + first), "end_offset": offset(place.offset + last),
            ]
        }
    }
}

extension ClosedRange<Double> {
    /// Clamps a recogniser's time to its file: reported times may lie outside.
    fileprivate func nearest(to value: Double) -> Double {
        value.isNaN ? lowerBound : Swift.min(Swift.max(value, lowerBound), upperBound)
    }
}

extension Date {
    /// The date as RFC 3339 with nine fractional digits.
    var nanoTime: String {
        // The text of a time is cut off at its milliseconds.
        "\(addingTimeInterval(0.0005).iso8601Milliseconds.dropLast())000000Z"
    }
}
