import Testing

@testable import Engines

/// The first stage of a note: the lines of a transcript, with their speakers.
struct TurnTests {
    @Test("a label names the speaker, and a line without one goes on")
    func labels() {
        let turns = Turn.all(in: "Doctor: How are you?\nAnd at home?\nPatient: Better.")
        #expect(turns.map(\.speaker) == [.clinician, .clinician, .patient])
        #expect(turns.map { String($0.text) } == ["How are you?", "And at home?", "Better."])
        #expect(turns.map(\.index) == [0, 1, 2])
    }

    @Test("a transcript without labels names no speaker")
    func unlabelled() {
        #expect(Turn.all(in: "how are you\nbetter").map(\.speaker) == [nil, nil])
    }

    @Test("a label that is neither clinician nor patient is a companion who speaks for the patient")
    func companion() {
        let turns = Turn.all(in: "Dr. Shah: Is she drinking?\nMum: Yes.")
        #expect(turns.map(\.isGuest) == [false, true])
        #expect(turns.map(\.speaker) == [.clinician, .patient])
    }

    @Test("a time in front of a line is no label")
    func times() {
        #expect(Turn.all(in: "[00:12] Doctor: Any fever?").map(\.label) == ["doctor"])
    }
}
