import Foundation
import ScribeDomain
import TestSupport
import Testing

@testable import Engines

struct AudioFormatTests {
    @Test(
        "the container and duration of files that ffmpeg wrote are read from their bytes",
        arguments: EncodedAudio.files.keys.sorted())
    func encoded(name: String) throws {
        let data = try #require(EncodedAudio.files[name])
        let format = try AudioFormat(reading: AudioBytes(data))
        #expect(format.container.rawValue == name.split(separator: ".").last.map(String.init))
        #expect(format.isPlain)
        // Encoders pad at both ends, by a frame or two.
        #expect(abs(format.duration - EncodedAudio.duration) < 0.15)
    }

    @Test(
        "an audio file that is cut off anywhere fails or is shorter, and never crashes the reader",
        arguments: EncodedAudio.files.keys.sorted())
    func cutOff(name: String) throws {
        let data = try #require(EncodedAudio.files[name])
        for length in stride(from: 0, to: data.count, by: max(1, data.count / 199)) {
            if let format = try? AudioFormat(reading: AudioBytes(data.prefix(length))) {
                #expect(format.duration <= EncodedAudio.duration + 0.15)
            }
        }
    }

    @Test("flipped bytes never crash the reader", arguments: EncodedAudio.files.keys.sorted())
    func damaged(name: String) throws {
        let data = try #require(EncodedAudio.files[name])
        var state: UInt64 = 42
        for _ in 0..<300 {
            var copy = data
            for _ in 0..<8 {
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                copy[Int(state >> 33) % min(copy.count, 600)] = UInt8(truncatingIfNeeded: state >> 24)
            }
            _ = try? AudioFormat(reading: AudioBytes(copy))
        }
    }

    @Test("an empty file is empty_audio")
    func empty() {
        #expect(throws: EngineFailure.self) { try AudioFormat(reading: AudioBytes(Data())) }
        #expect(failure(of: Data()) == .emptyAudio)
    }

    @Test("200 bytes of no known format are undecodable audio")
    func twoHundredBytes() {
        #expect(failure(of: Data(repeating: 0, count: 200)) == .undecodableAudio)
        #expect(
            failure(of: Data("hello, this is text. ".utf8) + Data(repeating: 0xFF, count: 180)) == .undecodableAudio)
        #expect(failure(of: TestAudio.wav(seconds: 1).prefix(200)) == .audioTooShort)
    }

    @Test("a file with an audio header and no samples is too short")
    func headerOnly() {
        #expect(failure(of: TestAudio.wav(seconds: 0)) == .audioTooShort)
    }

    @Test("a file whose header gives an impossible duration is undecodable")
    func hugeDurations() throws {
        var ogg = try #require(EncodedAudio.files["ogg"])
        let last = try #require(ogg.range(of: Data("OggS".utf8), options: .backwards)).lowerBound
        ogg[last + 13] = 0x40
        #expect(failure(of: ogg) == .undecodableAudio)

        var flac = Data("fLaC".utf8)
        flac.append(contentsOf: [0, 0, 0, 34])
        flac.append(Data(count: 10))
        flac.append(contentsOf: [0, 0, 0x10, 0x0F])
        flac.append(Data(repeating: 0xFF, count: 20))
        #expect(failure(of: flac) == .undecodableAudio)

        var header = Data([1])
        header.append(Data(count: 22))
        header.append(contentsOf: [1])
        header.append(Data(repeating: 0xFF, count: 8))
        header.append(Data(count: 80))
        var movie = Self.box("ftyp", Data("M4A ".utf8))
        movie.append(Self.box("moov", Self.box("mvhd", header)))
        movie.append(Self.box("mdat", Data([1])))
        #expect(failure(of: movie) == .undecodableAudio)
    }

    @Test("deeply nested MP4 boxes do not exhaust the stack")
    func nesting() {
        var nested = Data()
        var size = 8 * 100_000
        while size > 0 {
            nested.append(contentsOf: withUnsafeBytes(of: UInt32(size).bigEndian) { Data($0) })
            nested.append(Data("moov".utf8))
            size -= 8
        }
        #expect(failure(of: Self.box("ftyp", Data("M4A ".utf8)) + nested) == .undecodableAudio)
    }

    private static func box(_ name: String, _ content: Data) -> Data {
        withUnsafeBytes(of: UInt32(content.count + 8).bigEndian) { Data($0) } + Data(name.utf8) + content
    }

    private func failure(of data: Data) -> Diagnostic.Code? {
        do {
            _ = try AudioFormat(reading: AudioBytes(data))
            return nil
        } catch {
            return error.code
        }
    }
}
