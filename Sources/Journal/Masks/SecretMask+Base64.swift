import Foundation

extension SecretMask {
    /// Whether a run of base64 is a text in which nothing would be masked.
    static func isPlainText(_ run: ArraySlice<UInt8>) -> Bool {
        // The beginning of most sounds and pictures is no text.
        guard text(ofBase64: run.prefix(64)) != nil, let decoded = text(ofBase64: run) else { return false }
        return text(decoded) == decoded
    }

    /// The text that base64 stands for; nil for other data.
    private static func text(ofBase64 run: ArraySlice<UInt8>) -> String? {
        let plain = run.filter { $0 != UInt8(ascii: "\\") }
        guard let data = Data(base64Encoded: Data(plain.prefix(plain.count / 4 * 4)), options: .ignoreUnknownCharacters)
        else { return nil }
        // The last character may be cut.
        let text = (0...3).lazy.compactMap { String(validating: data.dropLast($0), as: UTF8.self) }.first
        return text.flatMap { $0.utf8.allSatisfy { $0 >= 32 && $0 != 127 || (9...13).contains($0) } ? $0 : nil }
    }
}
