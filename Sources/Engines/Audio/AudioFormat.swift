import Foundation
import ScribeDomain

/// Container and duration of a recording, read from its bytes; its name and headers do not count (eka.md 3.1, C-77).
package struct AudioFormat: Hashable, Sendable {
    package enum Container: String, Hashable, Sendable, CaseIterable {
        case wav, mp3, m4a, webm, ogg, flac
    }

    package let container: Container
    /// Duration in seconds, greater than zero.
    package let duration: Double

    package init(container: Container, duration: Double) {
        self.container = container
        self.duration = duration
    }

    /// Shortest recording that can hold a word, in seconds.
    package static let shortestDuration = 0.1
    /// Longest credible duration, in seconds. A longer one is a marker for "unknown" or an error.
    package static let longestDuration = 86_400.0

    /// Parses container and duration from a file's bytes.
    ///
    /// - Throws: ``EngineFailure`` with `empty_audio`, `audio_too_short` or `undecodable_audio`.
    package init(reading bytes: AudioBytes) throws(EngineFailure) {
        guard bytes.count > 0 else { throw EngineFailure(.emptyAudio, "no bytes") }
        guard let container = Self.container(of: bytes) else {
            throw EngineFailure(.undecodableAudio, "no known container")
        }
        let duration: Double? =
            switch container {
            case .wav: WaveHeaderParser(bytes)?.duration(in: bytes)
            case .mp3: MPEGAudio.duration(of: bytes)
            case .m4a: MP4Audio.duration(of: bytes)
            case .webm: WebMAudio.duration(of: bytes)
            case .ogg: OggAudio.duration(of: bytes)
            case .flac: FLACAudio.duration(of: bytes)
            }
        guard let duration, duration.isFinite, (0...Self.longestDuration).contains(duration) else {
            throw EngineFailure(.undecodableAudio, "a broken \(container.rawValue) file")
        }
        guard duration >= Self.shortestDuration else {
            throw EngineFailure(.audioTooShort, "shorter than \(Self.shortestDuration) s")
        }
        self.init(container: container, duration: duration)
    }

    /// Media type of a file by its first bytes; nil for bytes of no known container.
    package static func contentType(ofFileBeginning bytes: [UInt8]) -> String? {
        switch container(of: AudioBytes(Data(bytes))) {
        case .wav: "audio/wav"
        case .mp3: "audio/mpeg"
        case .m4a: "audio/mp4"
        case .webm: "audio/webm"
        case .ogg: "audio/ogg"
        case .flac: "audio/flac"
        case nil: nil
        }
    }

    private static func container(of bytes: AudioBytes) -> Container? {
        if bytes.text(at: 0, count: 4) == "RIFF", bytes.text(at: 8, count: 4) == "WAVE" { return .wav }
        // The first box is small, so that no text of another format matches by chance.
        if bytes.text(at: 4, count: 4) == "ftyp", let size = bytes.uint32(at: 0), (8...4096).contains(size) {
            return .m4a
        }
        if bytes.uint32(at: 0) == 0x1A45_DFA3 { return .webm }
        if bytes.text(at: 0, count: 4) == "OggS" { return .ogg }
        if bytes.text(at: 0, count: 4) == "fLaC" { return .flac }
        if MPEGAudio.firstFrame(of: bytes) != nil { return .mp3 }
        return nil
    }
}
