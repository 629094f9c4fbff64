import Basics
import Foundation
import ScribeDomain

/// Parses the name of a protocol session's audio file (medscribe.md 2.3).
///
/// Examples: `chunk_0.wav`, `audio_3.webm`, `1.mp3`.
struct AudioFileName: Hashable, Sendable {
    let number: Int
    /// The extension in lower case, without the dot.
    let fileExtension: String

    /// The file name as stored and as shown to clients, such as `3.webm`.
    var stored: String { "\(number).\(fileExtension)" }

    /// The content type of each accepted extension.
    static let types = [
        "webm": "audio/webm;codecs=opus", "mp3": "audio/mp3", "wav": "audio/wav", "ogg": "audio/ogg",
        "m4a": "audio/m4a", "mp4": "audio/mp4", "flac": "audio/flac", "aac": "audio/aac", "opus": "audio/ogg",
    ]

    /// Parses a file name.
    /// - Throws: ``AllianceError/malformed(_:)`` for a name of another form.
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

    /// The content type of the file: from the header if that names an audio type, else from the extension.
    /// - Throws: ``AllianceError/invalidAudioFormat(_:)`` for an unsupported type or extension.
    func contentType(_ header: String?) throws(AllianceError) -> String {
        // Whatever its type: no such file counts as audio, and it would take the place of one that does.
        guard !SessionFiles.audio(among: [stored]).isEmpty else { throw .invalidAudioFormat(fileExtension) }
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
