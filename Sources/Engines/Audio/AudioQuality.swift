import Foundation

/// How well speech can be heard in a recording, from 0 to 1.
///
/// Measured on frames of 20 ms. Six tenths are the distance of speech (the loudest tenth of the frames begins there)
/// from noise (the quietest tenth ends there), 3 dB counting nothing and 30 dB all; three tenths are the level of
/// speech, from -50 to -20 dBFS; one tenth is how much of the time somebody speaks, a fifth being enough. Clipped
/// samples take up to seven tenths of all that away, at two in a hundred. Silence is 0.
package struct AudioQuality: Hashable, Sendable {
    package let value: Double
    /// Whether nothing is as loud as a whisper, -60 dBFS, from the beginning to the end.
    package let isSilent: Bool

    /// Longer recordings are judged by their beginning, in seconds.
    private static let longest = 600
    private static let frameTime = 0.02
    /// In dBFS.
    private static let silence = -60.0

    /// - Returns: nil when this is no WAV with samples of 16 bits, or is shorter than a few frames.
    package static func measure(wave bytes: AudioBytes) -> AudioQuality? {
        guard let wave = WaveSamples(bytes) else { return nil }
        let frame = Int(Double(wave.rate) * frameTime) * wave.channels
        let most = wave.rate * wave.channels * longest
        let count = min(wave.count, most)
        guard frame > 0, count >= frame * 5 else { return nil }
        let (levels, clipped) = wave.frames(of: frame, in: 0..<count)
        let sorted = levels.sorted()
        let speech = sorted[sorted.count * 9 / 10]
        let noise = sorted[sorted.count / 10]
        guard speech > silence else {
            let isSilent = sorted.allSatisfy { $0 <= silence }
            // A recording counts as silent only when all of it is; the rest is read only if its first part is.
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
