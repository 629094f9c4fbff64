package import Foundation

extension TestAudio {
    /// An MPEG-4 audio file: its header, its duration and something that passes for sound.
    package static func m4a(seconds: Double) -> Data {
        var header = Data(count: 12)
        header.append(bigEndian: UInt32(1000))
        header.append(bigEndian: UInt32(seconds * 1000))
        header.append(Data(count: 80))
        return box("ftyp", Data("M4A \0\0\0\0M4A mp42isom".utf8)) + box("moov", box("mvhd", header))
            + box("mdat", Data(repeating: 0x21, count: Int(seconds * 6000)))
    }

    /// An MP3 of 128 kbit/s and 44.1 kHz: silent frames, one after another.
    package static func mp3(seconds: Double) -> Data {
        let frame = Data([0xFF, 0xFB, 0x90, 0x00]) + Data(count: 413)
        return (0..<Int((seconds * 44_100 / 1152).rounded(.up))).reduce(into: Data()) { data, _ in data += frame }
    }

    /// A chunk of about ten seconds, in the format of its name and with bytes of its own: `2.mp3`.
    package static func chunk(_ name: String) -> Data {
        let seconds = 10 + 0.05 * (Double(name.prefix { $0.isNumber }) ?? 0)
        return name.contains(".mp3") ? mp3(seconds: seconds) : m4a(seconds: seconds)
    }

    private static func box(_ name: String, _ content: Data) -> Data {
        var data = Data()
        data.append(bigEndian: UInt32(content.count + 8))
        return data + Data(name.utf8) + content
    }
}

extension Data {
    fileprivate mutating func append(bigEndian value: UInt32) {
        Swift.withUnsafeBytes(of: value.bigEndian) { append(contentsOf: $0) }
    }
}
