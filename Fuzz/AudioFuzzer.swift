import Foundation

@testable import Engines

/// Recordings. The bytes begin anywhere in memory: a slice reads as the whole does.
@Sendable func fuzzAudio(_ data: Data) {
    let format = try? AudioFormat(reading: AudioBytes(data))
    let slice = (Data([0]) + data).dropFirst()
    require(format == (try? AudioFormat(reading: AudioBytes(slice))), "a slice reads as the whole does")
    _ = AudioQuality.measure(wave: AudioBytes(data))
    if let format {
        require(
            (AudioFormat.shortestDuration...AudioFormat.longestDuration).contains(format.duration),
            "a duration is one that can be"
        )
    }
}
