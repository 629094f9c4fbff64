import Foundation
import TestSupport
import Testing

@testable import Engines

struct AudioQualityTests {
    @Test("audio that is no 16-bit WAV, or too short, has no quality, wherever it is cut off")
    func unmeasurable() {
        let wave = TestAudio.wav(seconds: 1)
        #expect(AudioQuality.measure(wave: AudioBytes(wave)) != nil)
        #expect(AudioQuality.measure(wave: AudioBytes(Data())) == nil)
        #expect(AudioQuality.measure(wave: AudioBytes(TestAudio.wav(seconds: 0.05))) == nil)
        for length in 0..<44 { #expect(AudioQuality.measure(wave: AudioBytes(wave.prefix(length))) == nil) }
        for length in stride(from: 44, to: wave.count, by: 7) {
            if let quality = AudioQuality.measure(wave: AudioBytes(wave.prefix(length))) {
                #expect((0...1).contains(quality.value))
            }
        }
    }

    @Test("a recording is silent only if it is quiet from its beginning to its end")
    func silence() {
        var wave = TestAudio.wav(seconds: 20)
        // A word at the end, too short for any quality.
        let word = 44 + (wave.count - 44) * 39 / 40
        wave.resetBytes(in: 44..<word)
        #expect(AudioQuality.measure(wave: AudioBytes(wave)) == AudioQuality(value: 0, isSilent: false))
        wave.resetBytes(in: word..<wave.count)
        #expect(AudioQuality.measure(wave: AudioBytes(wave)) == AudioQuality(value: 0, isSilent: true))
    }

    @Test("a recording longer than the measured part is read to its end before it counts as silent")
    func longSilence() {
        let silent = TestAudio.wav(seconds: 605, rate: 4000, isSilent: true)
        #expect(AudioQuality.measure(wave: AudioBytes(silent)) == AudioQuality(value: 0, isSilent: true))
        let word = silent.dropLast(8000) + TestAudio.wav(seconds: 1, rate: 4000).dropFirst(44)
        #expect(AudioQuality.measure(wave: AudioBytes(word)) == AudioQuality(value: 0, isSilent: false))
    }
}
