/// Codec or container of a live audio stream that can be decoded without its end.
package enum StreamCodec: String, Hashable, Sendable, CaseIterable {
    case aac, aiff, caf, flac, mp3, mp4, ogg, w64, webm, g729
    /// Bare Opus packets, one for each message.
    case opus
    case amrNarrow = "amr-nb"
    case amrWide = "amr-wb"

    /// ffmpeg's demuxer for the stream; ffmpeg may use no other, whatever the bytes look like. Nil for packets.
    var demuxer: String? {
        switch self {
        case .opus: nil
        case .mp4: "mov"
        case .webm: "matroska"
        case .amrNarrow: "amrnb"
        case .amrWide: "amrwb"
        case .aac, .aiff, .caf, .flac, .mp3, .ogg, .w64, .g729: rawValue
        }
    }

    /// Length of a stream's beginning that identifies its codec, in bytes.
    package static let signatureSize = 12

    /// Detects the codec from the first bytes of a stream; nil for any other stream.
    /// - Parameter bytes: the first ``signatureSize`` bytes.
    package init?(signature bytes: [UInt8]) {
        if let codec = Self(container: bytes) {
            self = codec
        } else if bytes.starts(with: "ID3".utf8) {
            self = .mp3
        } else if bytes.count > 1, bytes[0] == 0xFF, bytes[1] & 0xE0 == 0xE0 {
            // Layer 0 never occurs in MPEG audio and always in ADTS.
            self = bytes[1] & 0x06 == 0 ? .aac : .mp3
        } else {
            return nil
        }
    }

    /// Detects a container by a signature of four bytes or more, which raw samples do not have by chance.
    package init?(container bytes: [UInt8]) {
        func starts(_ text: String, at place: Int = 0) -> Bool { bytes.dropFirst(place).starts(with: text.utf8) }
        if starts("fLaC") {
            self = .flac
        } else if starts("OggS") {
            self = .ogg
        } else if starts("caff") {
            self = .caf
        } else if starts("FORM"), starts("AIF", at: 8) {
            self = .aiff
        } else if starts("riff") {
            self = .w64
        } else if bytes.starts(with: [0x1A, 0x45, 0xDF, 0xA3]) {
            self = .webm
        } else if starts("ftyp", at: 4) {
            self = .mp4
        } else {
            return nil
        }
    }
}
