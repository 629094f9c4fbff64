@testable import Engines

extension NoteVoice {
    /// Words that the rules can write without their being said. `voice.txt` lists them.
    static let words: Set<String> = {
        let tables = [thirdPerson, pronouns, cliniciansPronouns, whole, MedicationMention.shortUnits].flatMap(\.values)
        let phrases = [patientLeads, VitalSign.names, [Token].speltPhrases]
            .flatMap { $0.byFirstWord.values.joined().map(\.meaning) }
        let said =
            tables + phrases + [
                "lying standing sitting", "denies reports allergies known no to for",
                "stop increase reduce continue started stopped increased decreased continued",
                "patient clinician the not",
            ]
        return Set(said.flatMap { $0.lowercased().split(separator: " ").map(String.init) })
    }()
}
