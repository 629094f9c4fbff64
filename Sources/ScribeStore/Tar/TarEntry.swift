import Foundation

/// Header of a regular file in a tar archive (POSIX ustar).
package struct TarEntry: Hashable, Sendable {
    package static let headerSize = 512
    /// Zeros at the end of an archive.
    package static let endSize = 1024
    /// Largest size that eleven octal digits can write.
    private static let octalLimit = 1 << 33

    package let name: String
    /// In bytes.
    package let size: Int

    /// Zeros behind the bytes.
    package var padding: Int { (Self.headerSize - size % Self.headerSize) % Self.headerSize }

    package init(name: String, size: Int) {
        self.name = name
        self.size = size
    }

    package var header: [UInt8] {
        var header = [UInt8](repeating: 0, count: Self.headerSize)
        func put(_ text: String, at place: Int) {
            for (index, byte) in text.utf8.enumerated() { header[place + index] = byte }
        }
        put(name, at: 0)
        put("0000600\0", at: 100)
        put("0000000\0", at: 108)
        put("0000000\0", at: 116)
        if size < Self.octalLimit {
            put(Self.octal(size, digits: 11) + "\0", at: 124)
        } else {
            // Base 256, as GNU tar writes larger sizes.
            header[124] = 0x80
            for index in 0..<8 { header[128 + index] = UInt8(truncatingIfNeeded: size >> (8 * (7 - index))) }
        }
        put("00000000000\0", at: 136)
        put("        ", at: 148)
        put("0", at: 156)
        put("ustar\0" + "00", at: 257)
        put(Self.octal(header.reduce(0) { $0 + Int($1) }, digits: 6) + "\0 ", at: 148)
        return header
    }

    private static func octal(_ number: Int, digits: Int) -> String {
        let text = String(number, radix: 8)
        return String(repeating: "0", count: max(0, digits - text.count)) + text
    }

    /// Reads a header.
    /// - Throws: ``SnapshotProblem/foreign`` for anything but a regular file with a plain name: links, devices,
    ///   folders, and headers that other programs put before those.
    init(header: ArraySlice<UInt8>) throws(SnapshotProblem) {
        let header = Array(header)
        func field(_ place: Int, _ length: Int) -> ArraySlice<UInt8> {
            header[place..<place + length].prefix { $0 != 0 }
        }
        func number(_ place: Int, _ length: Int) -> Int? {
            if header[place] == 0x80 {
                let digits = header[place + 1..<place + length]
                guard digits.dropLast(8).allSatisfy({ $0 == 0 }), digits.suffix(8).first.map({ $0 < 0x80 }) == true
                else { return nil }
                return digits.reduce(0) { $0 << 8 | Int($1) }
            }
            let text = String(decoding: field(place, length), as: UTF8.self).trimmingCharacters(in: .whitespaces)
            guard !text.hasPrefix("-"), !text.hasPrefix("+") else { return nil }
            return Int(text, radix: 8)
        }
        var summed = header
        for index in 148..<156 { summed[index] = UInt8(ascii: " ") }
        guard header.count == Self.headerSize, header[257..<262].elementsEqual("ustar".utf8),
            number(148, 8) == summed.reduce(0, { $0 + Int($1) }), header[156] == UInt8(ascii: "0"),
            field(157, 100).isEmpty, field(345, 155).isEmpty, let size = number(124, 12)
        else { throw .foreign }
        self.init(name: String(decoding: field(0, 100), as: UTF8.self), size: size)
    }
}
