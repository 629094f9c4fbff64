import Testing

@testable import Engines

struct TranscriptPartsTests {
    @Test("a short transcript is one part, and an empty one is none")
    func short() {
        #expect(TranscriptParts("Doctor: Hello.\nPatient: Hi.", longest: 100).parts == ["Doctor: Hello.\nPatient: Hi."])
        #expect(TranscriptParts(" \n ", longest: 100).parts.isEmpty)
    }

    @Test("a long transcript is divided between lines", arguments: [5, 12, 40])
    func lines(longest: Int) {
        let lines = (1...30).map { "line \($0)" }
        let parts = TranscriptParts(lines.joined(separator: "\n"), longest: longest).parts
        #expect(parts.allSatisfy { $0.count <= longest })
        #expect(
            parts.joined(separator: " ").split { $0 == " " || $0 == "\n" }
                == lines.joined(separator: " ").split(separator: " "))
    }

    @Test("a line without end is divided between words, and a word without end within")
    func endless() {
        let words = (1...500).map { "w\($0)" }.joined(separator: " ")
        let parts = TranscriptParts(words, longest: 64).parts
        #expect(parts.allSatisfy { $0.count <= 64 })
        #expect(parts.flatMap { $0.split(separator: " ") }.joined(separator: " ") == words)
        let word = String(repeating: "अ", count: 1000)
        let pieces = TranscriptParts(word, longest: 64).parts
        #expect(pieces.allSatisfy { $0.count <= 64 })
        #expect(pieces.joined() == word)
    }
}
