package import Foundation

/// Audio made on the spot.
package enum TestAudio {
    /// A WAV of a quiet tone, or of silence, mono 16 bit.
    package static func wav(seconds: Double, tone: Int = 1, rate: Int = 8000, isSilent: Bool = false) -> Data {
        let count = Int(seconds * Double(rate))
        // Tests are not optimised: one period is made, and repeated.
        let period = isSilent ? [0] : (0..<200).map { Int16(($0 * tone) % 200 - 100).littleEndian }
        var data = Data("RIFF".utf8)
        data.append(littleEndian: UInt32(36 + count * 2))
        data += Data("WAVEfmt ".utf8)
        data.append(littleEndian: UInt32(16))
        data.append(littleEndian: UInt16(1))
        data.append(littleEndian: UInt16(1))
        data.append(littleEndian: UInt32(rate))
        data.append(littleEndian: UInt32(rate * 2))
        data.append(littleEndian: UInt16(2))
        data.append(littleEndian: UInt16(16))
        data += Data("data".utf8)
        data.append(littleEndian: UInt32(count * 2))
        let bytes = period.withUnsafeBytes { Data($0) }
        for _ in 0..<(count / period.count) { data += bytes }
        return data + bytes.prefix(count % period.count * 2)
    }
}

extension Data {
    fileprivate mutating func append(littleEndian value: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: value.littleEndian) { append(contentsOf: $0) }
    }
}

/// A folder that is gone when its owner is.
package final class TemporaryFolder: Sendable {
    package let path: String

    package init() throws {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("scribe-test-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        path = url.path
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// Writes a file and returns its path.
    package func write(_ data: Data, as name: String) throws -> String {
        try data.write(to: URL(fileURLWithPath: "\(path)/\(name)"))
        return "\(path)/\(name)"
    }
}
