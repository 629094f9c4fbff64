import Basics
import Foundation

/// Audibility of speech in a recording, from 0 to 1.
///
/// The measure uses frames of 20 ms and adds three parts:
/// - 0.6 for the distance between speech (90th percentile of the levels) and noise (10th
///   percentile). 3 dB count 0, 30 dB count fully.
/// - 0.3 for the level of speech, from -50 to -20 dBFS.
/// - 0.1 for the share of time with speech; a fifth counts fully.
///
/// Clipped samples reduce the sum by up to 0.7, at 2% of the samples. Silence is 0.
package struct AudioQuality: Hashable, Sendable {
    package let value: Double
    /// Whether the whole recording stays below -60 dBFS, more quiet than a whisper.
    package let isSilent: Bool

    /// Length of the measured beginning, in seconds; the rest of a longer recording is not measured.
    private static let longest = 600
    private static let frameTime = 0.02
    /// Level of silence, in dBFS.
    private static let silence = -60.0

    /// Measures a WAV file. Nil if the file is no WAV with 16-bit samples, or is shorter than a few frames.
    package static func measure(wave bytes: AudioBytes) -> AudioQuality? {
        guard let wave = WaveSamples(bytes) else { return nil }
        let frame = Int(saturating: Double(wave.rate) * frameTime) * wave.channels
        let most = wave.rate * wave.channels * longest
        let count = min(wave.count, most)
        guard frame > 0, count >= frame * 5 else { return nil }
        let (levels, clipped) = wave.frames(of: frame, in: 0..<count)
        let sorted = levels.sorted()
        let speech = sorted[sorted.count * 9 / 10]
        let noise = sorted[sorted.count / 10]
        guard speech > silence else {
            let isSilent = sorted.allSatisfy { $0 <= silence }
            // The rest is read only if the first part is silent, to find out whether all of it is.
            let rest = isSilent && wave.count > count ? wave.frames(of: frame, in: 0..<wave.count).levels : []
            return AudioQuality(value: 0, isSilent: isSilent && rest.allSatisfy { $0 <= silence })
        }
        let active = Double(levels.count { $0 > max(noise + 6, -55) }) / Double(levels.count)
        let heard =
            0.6 * share(speech - max(noise, -90), from: 3, to: 30) + 0.3 * share(speech, from: -50, to: -20)
            + 0.1 * share(active, from: 0, to: 0.2)
        let clipping = share(Double(clipped) / Double(count), from: 0, to: 0.02)
        return AudioQuality(value: heard * (1 - 0.7 * clipping), isSilent: false)
    }

    private static func share(_ value: Double, from lowest: Double, to highest: Double) -> Double {
        min(1, max(0, (value - lowest) / (highest - lowest)))
    }
}
