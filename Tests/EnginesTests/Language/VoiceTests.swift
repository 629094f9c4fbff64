import Foundation
import ScribeDomain
import TestSupport
import Testing

@testable import Engines

/// The words that a note may have without their being said.
struct VoiceTests {
    @Test("voice.txt lists at most 150 words of the note's voice, and no clinical finding")
    func list() throws {
        let file = projectFile("Sources/Engines/Language/voice.txt")
        let listed = Set(
            try String(contentsOf: file, encoding: .utf8).split(whereSeparator: \.isWhitespace).map(String.init))
        #expect(listed.count <= 150)
        #expect(NoteVoice.words.subtracting(listed).sorted() == [])
        let findings = Terms(listed.sorted().map { Token($0, source: "".startIndex..<"".endIndex) })
        #expect(
            findings.all.filter { !$0.kinds.isDisjoint(with: [.condition, .medication, .procedure]) }.count <= 1,
            "allergies")
    }

    @Test(
        "pronouns become the patient, with verbs that agree",
        arguments: [
            ("patient: My chest hurts when I cough.", "chest hurts when they cough"),
            ("patient: It goes away when you rest.", "it goes away when they rest"),
            ("doctor: If you pass water more often, call us.", "if they pass water more often, call clinic"),
            ("doctor: If you are still unwell in a week, come back.", "if they are still unwell in a week, come back"),
            (
                "doctor: If you get chest pain at rest, go to the emergency room.",
                "if patient gets chest pain at rest, go to emergency room"
            ),
            ("doctor: I'll call you tomorrow with the results.", "call patient tomorrow with the results"),
        ])
    func agreement(said: String, noted: String) {
        #expect(FactExtraction.facts(in: said).map(\.text) == [noted])
    }

    @Test("a bare number that answers how often is noted only with what it counts")
    func bareNumber() {
        let said = "doctor: How often do you get up at night?\npatient: Maybe two.\n"
        #expect(FactExtraction.facts(in: said).map(\.text) == [])
    }
}
