import Basics
package import Foundation
import ScribeDomain

/// Container and duration of a recording, read from its bytes; its name and headers do not count (eka.md 3.1, C-77).
package struct AudioFormat: Hashable, Sendable {
    package enum Container: String, Hashable, Sendable, CaseIterable {
        case wav, mp3, m4a, webm, ogg, flac, aac, aiff, caf, w64
    }

    package let container: Container
    /// Duration in seconds, greater than zero.
    package let duration: Double
    /// Recordings in the file, by their bytes: more than one where files were joined of which players read the first
    /// alone.
    let parts: [Range<Int>]
    /// Whether players read the whole file as it is: no bytes stand before it, and no second recording behind it.
    let isPlain: Bool

    /// Shortest recording that can hold a word, in seconds.
    package static let shortestDuration = 0.1
    /// Longest credible duration, in seconds. A longer one is a marker for "unknown" or an error.
    package static let longestDuration = 86_400.0
    /// Most bytes of zeros that may stand before a file.
    package static let maxZeros = 64 << 10
}

extension AudioFormat {
    /// Parses container and duration from a file's bytes.
    ///
    /// - Throws: ``EngineFailure`` with `empty_audio`, `audio_too_short` or `undecodable_audio`.
    package init(reading bytes: AudioBytes) throws(EngineFailure) {
        guard bytes.count > 0 else { throw EngineFailure(.emptyAudio, "no bytes") }
        guard let (container, start) = Self.beginning(of: bytes) else {
            throw EngineFailure(.undecodableAudio, "no known container")
        }
        let file = start == 0 ? bytes : bytes.suffix(from: start)
        let movies = container == .m4a ? MP4Audio.parts(of: file) : nil
        let duration: Double? =
            switch container {
            case .wav: WaveHeaderParser(file)?.duration(in: file)
            case .mp3: MPEGAudio.duration(of: file)
            case .m4a: movies?.total(\.duration)
            case .webm: WebMAudio.duration(of: file)
            case .ogg: OggAudio.duration(of: file)
            case .flac: FLACAudio.duration(of: file)
            case .aac: ADTSAudio.duration(of: file)
            case .aiff: ChunkedAudio.durationOfAIFF(file)
            case .caf: ChunkedAudio.durationOfCAF(file)
            case .w64: ChunkedAudio.durationOfWave64(file)
            }
        guard let duration, duration.isFinite, (0...Self.longestDuration).contains(duration) else {
            throw EngineFailure(.undecodableAudio, "a broken \(container.rawValue) file")
        }
        guard duration >= Self.shortestDuration else {
            throw EngineFailure(.audioTooShort, "shorter than \(Self.shortestDuration) s")
        }
        self.container = container
        self.duration = duration
        parts = movies?.map { start + $0.range.lowerBound..<start + $0.range.upperBound } ?? [start..<bytes.count]
        isPlain = start == 0 && parts.count == 1
    }

    /// Media type of a file by its first bytes; nil for bytes of no known container.
    package static func contentType(ofFileBeginning bytes: [UInt8]) -> String? {
        container(of: AudioBytes(Data(bytes)))?.contentType
    }

    /// Position at which a file begins, behind zeros or ID3 tags; nil for bytes of no known container.
    package static func start(ofFileBeginning bytes: Data) -> Int? { beginning(of: AudioBytes(bytes))?.1 }

    /// Container of a file, and the position at which it begins: behind zeros that a recorder has left, or behind ID3
    /// tags. Nil for no known container.
    private static func beginning(of bytes: AudioBytes) -> (Container, Int)? {
        if let container = container(of: bytes) { return (container, 0) }
        let tags = MPEGAudio.endOfTags(of: bytes)
        let found = (tags..<tags + maxZeros).first { bytes.byte(at: $0) != 0 }
        guard let found, found > 0, found < bytes.count else { return nil }
        // The size of an MPEG-4 file's first box begins with zeros itself.
        for start in [found, found - 3, found - 2] where start > 0 {
            if let container = container(of: bytes.suffix(from: start)) { return (container, start) }
        }
        return nil
    }

    private static func container(of bytes: AudioBytes) -> Container? {
        switch bytes.text(at: 0, count: 4) {
        case "RIFF", "RF64", "BW64": if bytes.text(at: 8, count: 4) == "WAVE" { return .wav }
        case "OggS": return .ogg
        case "fLaC": return .flac
        case "caff": return .caf
        case "FORM": if ["AIFF", "AIFC"].contains(bytes.text(at: 8, count: 4)) { return .aiff }
        case "riff": if bytes.text(at: 24, count: 4) == "wave" { return .w64 }
        default: break
        }
        // The first box is small, so that no text of another format matches by chance.
        if bytes.text(at: 4, count: 4) == "ftyp", let size = bytes.uint32(at: 0), (8...4096).contains(size) {
            return .m4a
        }
        if bytes.uint32(at: 0) == 0x1A45_DFA3 { return .webm }
        if MPEGAudio.firstFrame(of: bytes) != nil { return .mp3 }
        return ADTSAudio.begins(bytes) ? .aac : nil
    }
}

extension AudioFormat.Container {
    /// Media type of the container.
    var contentType: String {
        switch self {
        case .wav, .webm, .ogg, .flac, .aac, .aiff: "audio/\(rawValue)"
        case .mp3: "audio/mpeg"
        case .m4a: "audio/mp4"
        case .caf, .w64: "audio/x-\(rawValue)"
        }
    }

    /// ffmpeg's demuxer for the container.
    var demuxer: String {
        switch self {
        case .wav, .mp3, .ogg, .flac, .aac, .aiff, .caf, .w64: rawValue
        case .m4a: "mov"
        case .webm: "matroska"
        }
    }
}
