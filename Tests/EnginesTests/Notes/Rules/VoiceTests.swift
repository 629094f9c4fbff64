import Foundation
import ScribeDomain
import Testing

@testable import Engines

/// The words that a note may have without their being said.
struct VoiceTests {
    @Test("voice.txt lists at most 150 words of the note's voice, and no clinical finding")
    func list() throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../../../Sources/Engines/Notes/Rules/voice.txt")
        let listed = Set(
            try String(contentsOf: file, encoding: .utf8).split(whereSeparator: \.isWhitespace).map(String.init))
        #expect(listed.count <= 150)
        #expect(NoteVoice.words.subtracting(listed).sorted() == [])
        let findings = Terms(listed.sorted().map { Token($0, source: "".startIndex..<"".endIndex) })
        #expect(
            findings.all.filter { !$0.kinds.isDisjoint(with: [.condition, .medication, .procedure]) }.count <= 1,
            "allergies")
    }
}
