import Foundation
import NIOPosix
import ScribeDomain
import TestSupport
import Testing

@testable import Engines

/// Files that are two formats at once: a recogniser that guessed would read what they name.
struct PolyglotTests {
    let folder: TemporaryFolder
    let secret: String

    init() throws {
        folder = try TemporaryFolder()
        secret = try folder.write(TestAudio.wav(seconds: 3), as: "secret.wav")
    }

    /// What begins the other format, naming `secret`.
    static let beginnings: [String: String] = [
        "ffconcat": "ffconcat version 1.0\nfile 'secret.wav'\n",
        "HLS": "#EXTM3U\n#EXT-X-TARGETDURATION:9\n#EXTINF:3,\nsecret.wav\n#EXT-X-ENDLIST\n",
        "SRT": "1\n00:00:00,000 --> 00:00:01,000\nwords\n\n",
        "SVG": #"<svg xmlns="http://www.w3.org/2000/svg"><image href="secret.wav"/></svg>"#,
        "SDP": "v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nc=IN IP4 127.0.0.1\nm=audio 1 RTP/AVP 0\n",
    ]

    @Test(
        "a file whose first bytes do not match its format is not accepted as audio",
        arguments: beginnings.keys.sorted(), EncodedAudio.files.keys.sorted())
    func beginning(other: String, container: String) throws {
        let data = Data(try #require(Self.beginnings[other]).utf8) + (try #require(EncodedAudio.files[container]))
        #expect { try AudioFormat(reading: AudioBytes(data)) } throws: {
            ($0 as? EngineFailure)?.code == .undecodableAudio
        }
    }

    @Test("an MP4 whose first box holds another format's text is refused")
    func firstBox() throws {
        var data = try #require(EncodedAudio.files["m4a"])
        data.replaceSubrange(0..<4, with: Data("<svg".utf8))
        #expect(throws: EngineFailure.self) { try AudioFormat(reading: AudioBytes(data)) }
    }

    @Test("an ID3 tag may be followed by MP3 audio only", arguments: [false, true])
    func tag(hasFooter: Bool) throws {
        let tag = Data([0x49, 0x44, 0x33, 4, 0, hasFooter ? 0x10 : 0, 0, 0, 0, 0])
        let footer = hasFooter ? Data([0x33, 0x44, 0x49, 4, 0, 0x10, 0, 0, 0, 0]) : Data()
        let sound = try #require(EncodedAudio.files["mp3"])
        #expect(try AudioFormat(reading: AudioBytes(tag + footer + Data(count: 100) + sound)).container == .mp3)
        let playlist = Data(try #require(Self.beginnings["ffconcat"]).utf8)
        #expect(throws: EngineFailure.self) {
            try AudioFormat(reading: AudioBytes(tag + footer + playlist + sound))
        }
    }

    @Test(
        "ffmpeg reads a file as the detected container, and follows no file name in it",
        arguments: AudioFormat.Container.allCases, beginnings.keys.sorted())
    func forced(container: AudioFormat.Container, other: String) async throws {
        let playlist = try folder.write(Data(try #require(Self.beginnings[other]).utf8), as: "audio")
        let ffmpeg = FFmpeg(programs: ProgramRunner(timeLimit: .seconds(60), clock: ManualClock().clock))
        let wave = "\(folder.path)/out.wav"
        for isPlain in [true, false] {
            let format = AudioFormat(container: container, duration: 1, parts: [0..<1000], isPlain: isPlain)
            await #expect(throws: EngineFailure.self) { try await ffmpeg.convert(playlist, format, to: wave) }
            let made = FileManager.default.contents(atPath: wave) ?? Data()
            #expect(made.count < 1000, "none of the other file's sound")
        }
    }

    @Test("ffmpeg decodes every container as the detected one", arguments: AudioFormat.Container.allCases)
    func decoded(container: AudioFormat.Container) async throws {
        let path = try folder.write(try #require(EncodedAudio.files[container.rawValue]), as: "upload")
        let format = try AudioFormat(reading: AudioBytes(file: path))
        let ffmpeg = FFmpeg(programs: ProgramRunner(timeLimit: .seconds(60), clock: ManualClock().clock))
        let wave = "\(folder.path)/out.wav"
        try await ffmpeg.convert(path, format, to: wave)
        #expect(abs(try AudioFormat(reading: AudioBytes(file: wave)).duration - EncodedAudio.duration) < 0.3)
        let cut = "\(folder.path)/out.flac"
        try await ffmpeg.convert(path, format, range: 0.5...1, to: cut, as: .flac)
        #expect(abs(try AudioFormat(reading: AudioBytes(file: cut)).duration - 0.5) < 0.2)
        #expect(try await ffmpeg.silenceReport(of: path, format).contains("Duration"))
    }
}
