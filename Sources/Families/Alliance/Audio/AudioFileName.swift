import Foundation
import ScribeDomain

/// The name of a session's file as clients spell it: `chunk_0.wav`, `audio_3.webm`, and `1.mp3` (medscribe.md 2.3).
struct AudioFileName: Hashable, Sendable {
    let number: Int
    /// In lower case.
    let fileExtension: String

    /// As it is stored and told.
    var stored: String { "\(number).\(fileExtension)" }

    /// Extensions that recordings have, with the type that each means.
    static let types = [
        "webm": "audio/webm;codecs=opus", "mp3": "audio/mp3", "wav": "audio/wav", "ogg": "audio/ogg",
        "m4a": "audio/m4a", "mp4": "audio/mp4", "flac": "audio/flac", "aac": "audio/aac", "opus": "audio/ogg",
    ]

    /// - Throws: ``AllianceError/malformed(_:)`` for a name without a number.
    init(_ text: String) throws(AllianceError) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard text.utf8.count <= 255, parts.count == 2 else { throw Self.unusable }
        let digits = Array(parts[0].utf8.reversed().prefix(while: \.isDigit).reversed())
        let base = parts[0].utf8.dropLast(digits.count)
        guard (1...9).contains(digits.count), let number = digits.number, base.allSatisfy(\.isInIdentifier),
            (1...8).contains(parts[1].utf8.count), parts[1].utf8.allSatisfy(\.isInIdentifier)
        else { throw Self.unusable }
        self.number = number
        fileExtension = parts[1].lowercased()
    }

    private static let unusable = AllianceError.malformed("A file's name must be like chunk_0.wav or 1.mp3")

    /// What the bytes are said to be: by the header where it speaks of audio, else by the extension.
    /// - Throws: ``AllianceError/invalidAudioFormat(_:)``.
    func contentType(_ header: String?) throws(AllianceError) -> String {
        let told = header.map { $0.replacing(" ", with: "").lowercased() } ?? ""
        if told.hasPrefix("audio/") {
            guard Self.known.contains(where: { told == $0 || told.hasPrefix("\($0);") }) else {
                throw .invalidAudioFormat(told.isPlain && told.utf8.count <= 100 ? told : "audio")
            }
            return told
        }
        guard let type = Self.types[fileExtension] else { throw .invalidAudioFormat(fileExtension) }
        return type
    }

    private static let known = [
        "audio/webm", "audio/mp3", "audio/mpeg", "audio/wav", "audio/x-wav", "audio/wave", "audio/vnd.wave",
        "audio/ogg", "audio/m4a", "audio/x-m4a", "audio/mp4", "audio/flac", "audio/x-flac", "audio/aac", "audio/opus",
    ]
}
