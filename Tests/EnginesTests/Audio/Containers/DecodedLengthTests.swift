import Foundation
import TestSupport
import Testing

@testable import Engines

/// Recordings as recorders leave them. What ffmpeg decodes is compared with the length that is read.
struct DecodedLengthTests {
    private let folder: TemporaryFolder
    private let ffmpeg = FFmpeg(programs: ProgramRunner(timeLimit: .seconds(60), clock: ManualClock().clock))

    init() throws { folder = try TemporaryFolder() }

    /// Damage that leaves sound to hear.
    enum Damage: String, CaseIterable {
        case joined, cut, zerosBefore, zerosBehind, tagged
    }

    private func damaged(_ name: String, _ damage: Damage) throws -> Data {
        let data = try #require(EncodedAudio.files[name])
        return switch damage {
        case .joined: data + data
        case .cut: data.prefix(data.count * 7 / 10)
        case .zerosBefore: Data(count: 5000) + data
        case .zerosBehind: data + Data(count: 4)
        case .tagged: Data([0x49, 0x44, 0x33, 4, 0, 0, 0, 0, 0, 10]) + Data(count: 10) + data
        }
    }

    /// Files that hold sound after the damage.
    private static let cases: [(String, Damage)] =
        [
            "ogg", "vorbis.ogg", "speex.ogg", "flac.ogg", "webm", "live.webm", "vorbis.webm", "m4a", "fast.m4a",
            "fragmented.m4a", "aac", "mp3",
        ].map { ($0, .joined) }
        + [
            "ogg", "webm", "live.webm", "fragmented.m4a", "wav", "f32.wav", "adpcm.wav", "rf64.wav", "flac",
            "aac", "mp3", "aiff", "caf", "w64",
        ].map { ($0, .cut) }
        + AudioFormat.Container.allCases.map { ($0.rawValue, .zerosBefore) }
        + ["m4a", "fragmented.m4a", "webm", "ogg", "flac", "wav", "caf", "aiff"].map { ($0, .zerosBehind) }
        + ["flac", "aac", "mp3"].map { ($0, .tagged) }

    @Test("the length of a recording is that of its decoded sound, however it was joined or broken", arguments: cases)
    func decoded(name: String, damage: Damage) async throws {
        let path = try folder.write(try damaged(name, damage), as: "upload")
        let format = try AudioFormat(reading: AudioBytes(file: path))
        let wave = "\(folder.path)/decoded.wav"
        try await ffmpeg.convert(path, format, to: wave)
        let decoded = try AudioFormat(reading: AudioBytes(file: wave)).duration
        #expect(abs(format.duration - decoded) < 0.2, "\(format.duration) s read, \(decoded) s decoded")
        let whole = EncodedAudio.duration * (damage == .joined ? 2 : damage == .cut ? 0.65 : 1)
        #expect(abs(decoded - whole) < 0.45)
    }

    @Test("a part of joined recordings is cut at the times of the whole")
    func range() async throws {
        let path = try folder.write(try damaged("m4a", .joined), as: "upload")
        let format = try AudioFormat(reading: AudioBytes(file: path))
        let wave = "\(folder.path)/part.wav"
        try await ffmpeg.convert(path, format, range: 1.5...3.5, to: wave)
        #expect(abs(try AudioFormat(reading: AudioBytes(file: wave)).duration - 2) < 0.1)
    }

    @Test("an Ogg recording counts from the first sample that it has", arguments: ["ogg", "vorbis.ogg"])
    func initialGranule(name: String) throws {
        var data = try #require(EncodedAudio.files[name])
        // Ten minutes of a broadcast went before.
        var position = 0
        while let page = AudioBytes(data).firstPosition(of: Array("OggS".utf8), from: position) {
            let granule = (0..<8).reduce(UInt64(0)) { $0 | UInt64(data[page + 6 + $1]) << UInt64(8 * $1) }
            if granule > 0, granule != .max {
                let later = granule + 600 * 48_000
                for index in 0..<8 { data[page + 6 + index] = UInt8(truncatingIfNeeded: later >> UInt64(8 * index)) }
            }
            position = page + 4
        }
        let duration = try AudioFormat(reading: AudioBytes(data)).duration
        #expect(abs(duration - EncodedAudio.duration) < 0.25, "\(duration)")
    }

    @Test("a short recording behind a long one does not make both too short")
    func shortLast() throws {
        let long = try #require(EncodedAudio.files["ogg"])
        let short = EncodedAudio.encode(
            "short.ogg", ["-c:a", "libopus"], of: "sine=frequency=440:duration=0.05:sample_rate=16000")
        #expect(abs(try AudioFormat(reading: AudioBytes(long + short)).duration - 2.05) < 0.1)
    }

    @Test("an ended MPEG-4 recording that was cut off later is refused", arguments: ["m4a", "fast.m4a"])
    func cutMovie(name: String) throws {
        let data = try damaged(name, .cut)
        #expect(throws: EngineFailure.self) { try AudioFormat(reading: AudioBytes(data)) }
    }

    @Test("the length of a video is that of its sound")
    func video() throws {
        let data = EncodedAudio.encode(
            "video.mp4",
            [
                "-f", "lavfi", "-i", "color=size=32x32:rate=5:duration=5", "-c:v", "mpeg4", "-c:a", "aac", "-movflags",
                "frag_keyframe+empty_moov",
            ])
        #expect(abs(try AudioFormat(reading: AudioBytes(data)).duration - EncodedAudio.duration) < 0.15)
    }

    @Test("a FLAC stream without a length ends at its last frame")
    func streamedFLAC() throws {
        var data = try #require(EncodedAudio.files["flac"])
        // The number of samples in STREAMINFO.
        data[21] &= 0xF0
        for index in 22..<26 { data[index] = 0 }
        #expect(abs(try AudioFormat(reading: AudioBytes(data)).duration - EncodedAudio.duration) < 0.05)
    }

    @Test(
        "faint noise is silence in every format of samples",
        arguments: ["pcm_s16le", "pcm_s24le", "pcm_s32le", "pcm_f32le", "pcm_f64le"])
    func silence(codec: String) throws {
        let noise = EncodedAudio.encode(
            "\(codec).wav", ["-c:a", codec], of: "anoisesrc=duration=1:sample_rate=16000:amplitude=0.00001")
        #expect(AudioQuality.measure(wave: AudioBytes(noise))?.isSilent == true)
        let tone = EncodedAudio.encode("tone-\(codec).wav", ["-c:a", codec])
        #expect(AudioQuality.measure(wave: AudioBytes(tone))?.isSilent == false)
    }
}
