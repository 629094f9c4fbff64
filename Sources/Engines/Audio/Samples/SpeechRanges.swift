import Basics
package import ScribeDomain

/// Time ranges with speech in a recording, by the same measure as ``SpeechDetector``. A frame of 20 ms counts as
/// speech above a hundredth of full scale. Pauses shorter than 300 ms belong to the speech.
package struct SpeechRanges: Hashable, Sendable {
    /// Ranges in seconds, in order and without contact.
    package private(set) var ranges: [ClosedRange<Double>] = []

    /// Level below which a frame counts as silence, in dBFS.
    private static let quiet = -40.0
    private static let frameTime = 0.02
    /// Shortest pause that separates ranges, in seconds.
    private static let pause = 0.3
    /// Length of the pieces that are decoded and measured, in seconds.
    private static let pieceTime = 600.0

    package init() {}

    /// Finds the speech ranges of a recording. The result is empty without speech and for undecodable audio.
    /// - Parameter duration: duration by the header, in seconds; the file may be shorter.
    package init(of recording: Recording, duration: Double, by decoder: RecordingDecoder) async throws {
        if let ranges = try await decoder.read(recording.audio, { Self(ofWave: $0) }) {
            self = ranges
            return
        }
        self = try await recording.withLocalFile { audio in
            var ranges = Self()
            for start in stride(from: 0, to: duration, by: Self.pieceTime) {
                let piece = start...min(start + Self.pieceTime, duration)
                let part = try await decoder.readDecoded(audio, piece, for: recording.tenant) { wave in
                    WaveSamples(wave).flatMap { $0.count > 0 ? Self(ofWave: wave, from: start) : nil }
                }
                guard let part else { break }
                for range in part.ranges { ranges.add(range) }
            }
            return ranges
        }
    }

    /// Finds the speech ranges of a WAV with 16-bit samples.
    /// - Parameter start: start of the WAV within its recording, in seconds.
    init?(ofWave wave: AudioBytes, from start: Double = 0) {
        guard let samples = WaveSamples(wave) else { return nil }
        let frame = Int(saturating: Double(samples.rate) * Self.frameTime) * samples.channels
        let piece = frame * Int(saturating: Self.pieceTime / Self.frameTime)
        for first in stride(from: 0, to: samples.count, by: piece) {
            let (levels, _) = samples.frames(of: frame, in: first..<min(first + piece, samples.count))
            add(levels, from: start + Double(first / frame) * Self.frameTime)
        }
    }

    /// Adds the speech in a run of frames.
    /// - Parameters:
    ///   - levels: level of each frame, in dBFS.
    ///   - start: start of the first frame, in seconds.
    mutating func add(_ levels: [Double], from start: Double) {
        for (place, level) in levels.enumerated() where level >= Self.quiet {
            let frame = start + Double(place) * Self.frameTime
            add(frame...(frame + Self.frameTime))
        }
    }

    /// Appends a range, or extends the last range if no pause separates them.
    private mutating func add(_ range: ClosedRange<Double>) {
        if let last = ranges.last, range.lowerBound - last.upperBound < Self.pause {
            ranges[ranges.count - 1] = last.lowerBound...max(last.upperBound, range.upperBound)
        } else {
            ranges.append(range)
        }
    }
}

extension RecognisedSpeech {
    /// Words with times. If the recogniser gives no times, words are spread evenly over the speech ranges. A pause then
    /// falls after a sentence that ends near it.
    /// - Parameter duration: duration of the recognised audio, in seconds.
    package func words(in voiced: SpeechRanges, over duration: Double) -> [TimedWord] {
        guard words.isEmpty else { return words }
        let words = text.words.map(String.init)
        let ranges = voiced.ranges.isEmpty ? [0...max(0, duration)] : voiced.ranges
        let whole = ranges.total(\.length)
        var placed: [TimedWord] = []
        var spoken = 0.0
        for range in ranges {
            spoken += range.length
            let end = range == ranges.last ? words.count : Self.cut(words, near: spoken / whole * Double(words.count))
            let part = words[placed.count..<max(placed.count, end)]
            let length = range.length / Double(max(part.count, 1))
            placed += part.enumerated().map { place, word in
                TimedWord(
                    text: word, start: range.lowerBound + Double(place) * length,
                    end: range.lowerBound + Double(place + 1) * length)
            }
        }
        return placed
    }

    /// End of the sentence nearest to a position between words, at most three words
    /// away; otherwise the position itself.
    private static func cut(_ words: [String], near place: Double) -> Int {
        let nearest = Int(saturating: place.rounded())
        let ends = (max(1, nearest - 3)...max(1, nearest + 3)).filter {
            $0 <= words.count && words[$0 - 1].endsSentence
        }
        return ends.min { abs(Double($0) - place) < abs(Double($1) - place) } ?? nearest
    }
}

extension String {
    /// Whether the word ends with sentence punctuation.
    package var endsSentence: Bool { last.map { ".?!।".contains($0) } ?? false }
}

extension ClosedRange<Double> {
    fileprivate var length: Double { upperBound - lowerBound }
}
