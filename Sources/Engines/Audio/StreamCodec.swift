/// What audio may come as in a stream, beside samples: what ffmpeg takes apart without seeing the end of it.
package enum StreamCodec: String, Hashable, Sendable, CaseIterable {
    case aac, flac, mp3, mp4, ogg, webm, g729
    case amrNarrow = "amr-nb"
    case amrWide = "amr-wb"

    /// ffmpeg's name for what reads it. It may use no other, whatever the bytes look like.
    var demuxer: String {
        switch self {
        case .aac: "aac"
        case .flac: "flac"
        case .mp3: "mp3"
        case .mp4: "mov"
        case .ogg: "ogg"
        case .webm: "matroska"
        case .g729: "g729"
        case .amrNarrow: "amrnb"
        case .amrWide: "amrwb"
        }
    }

    /// How many bytes say what a stream is.
    package static let signatureSize = 12

    /// - Parameter bytes: its first ``signatureSize``.
    /// - Returns: nil for what is none of these by its first bytes.
    package init?(signature bytes: [UInt8]) {
        func starts(_ text: String, at place: Int = 0) -> Bool { bytes.dropFirst(place).starts(with: text.utf8) }
        if starts("fLaC") {
            self = .flac
        } else if starts("OggS") {
            self = .ogg
        } else if bytes.starts(with: [0x1A, 0x45, 0xDF, 0xA3]) {
            self = .webm
        } else if starts("ftyp", at: 4) {
            self = .mp4
        } else if starts("ID3") {
            self = .mp3
        } else if bytes.count > 1, bytes[0] == 0xFF, bytes[1] & 0xE0 == 0xE0 {
            // A layer of 0 is what MPEG audio never has and ADTS always.
            self = bytes[1] & 0x06 == 0 ? .aac : .mp3
        } else {
            return nil
        }
    }
}
