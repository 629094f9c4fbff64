import ScribeDomain
import Testing

@testable import Engines

/// What clinicians do with medications, and answers that must not become their opposite.
struct MedicationActionsTests {
    private func facts(_ kinds: ClinicalFact.Kind..., in lines: String) -> [String] {
        FactExtraction.facts(in: lines.split(separator: "/").joined(separator: "\n"))
            .filter { kinds.contains($0.kind) }.map(\.text)
    }

    @Test(
        "a name in apposition, a bare dose, a pronoun and a denied or conditional action are read as they were meant",
        arguments: [
            (
                "Patient: I take metformin 1 g twice a day./Doctor: Bring the metformin down to 500 mg twice a day.",
                ["reduce metformin to 500 mg twice a day"]
            ),
            (
                "Patient: I take bisoprolol 1.25 mg./Doctor: I'd like the bisoprolol to go up to two point five.",
                ["increase bisoprolol to 2.5 mg"]
            ),
            (
                "Patient: I take ticagrelor 90 mg twice a day./Doctor: Please don't stop it.",
                ["continue ticagrelor 90 mg twice a day"]
            ),
            ("Doctor: They sent you home on aspirin 75 mg once a day.", ["aspirin 75 mg once a day"]),
            ("Doctor: And the naproxen?/Patient: It helps./Doctor: That one has to stop.", ["stop naproxen"]),
            ("Patient: I take ramipril 5 mg./Doctor: Keep that leg up.", ["ramipril 5 mg"]),
            ("Patient: I use the brown inhaler, Clenil, two puffs twice a day.", ["Clenil 2 puffs twice a day"]),
            ("Patient: I take the water tablet indapamide.", ["indapamide"]),
            (
                "Patient: I was taking omeprazole./Doctor: You can go back on that, 20 mg once a day.",
                ["omeprazole 20 mg once a day"]
            ),
            ("Patient: The pharmacist offered me hydrocortisone.", []),
            (
                "Patient: I take sumatriptan 50 mg./Doctor: If you get on with it, you can double it.",
                ["sumatriptan 50 mg"]
            ),
            (
                "Patient: I take metformin 500 mg./Doctor: Continue metformin, and for the burning pregabalin 75 mg at night.",
                ["continue metformin 500 mg", "pregabalin 75 mg at night"]
            ),
            (
                "Patient: I take glimepiride 2 mg in the morning./Doctor: Stop the night dose of glimepiride.",
                ["reduce glimepiride to 2 mg in the morning"]
            ),
            ("Patient: Losartan, a hundred once a day.", ["losartan 100 mg once a day"]),
            ("Patient: I take indapamide, one and a half milligrams.", ["indapamide 1.5 mg"]),
            ("Patient: Metformin, five hundred three times a day.", ["metformin 500 mg three times a day"]),
            ("Patient: I do take co-codamol.", ["co-codamol"]),
            (
                "Patient: I take ibuprofen./Doctor: You sprained your ankle./Doctor: Stay off it for a week.",
                ["ibuprofen"]
            ),
            ("Doctor: We use antibiotics to prevent an infection./Doctor: Stay off it for a while.", []),
            (
                "Doctor: That's the ramipril./Doctor: We'll swap it for candesartan 8 mg once a day.",
                ["stop ramipril", "candesartan 8 mg once a day"]
            ),
            (
                "Patient: I take simvastatin 40 mg./Doctor: I'd change that too./Doctor: Rosuvastatin 5 mg.",
                ["stop simvastatin 40 mg", "rosuvastatin 5 mg"]
            ),
            (
                "Doctor: Take doxycycline 200 mg today and then a hundred once a day.",
                ["doxycycline 200 mg then 100 mg once a day"]
            ),
            (
                "Doctor: Do you take propranolol?/Doctor: How much are you taking?/Patient: Ten milligrams.",
                ["propranolol 10 mg"]
            ),
            (
                "Patient: Metformin 500 mg leta hoon./Doctor: Metformin ko 1000 milligrams kar dijiye.",
                ["increase metformin to 1000 mg"]
            ),
        ])
    func meant(lines: String, expected: [String]) {
        #expect(facts(.medication, in: lines) == expected)
    }

    @Test(
        "an action belongs to the medication that it stands before, and the last value said counts",
        arguments: [
            ("Doctor: Take paracetamol 1 gram up to four times a day.", ["paracetamol 1 g up to four times a day"]),
            (
                "Doctor: Start sertraline 50 mg once a day./Doctor: Try to cut the wine down.",
                ["sertraline 50 mg once a day"]
            ),
            ("Doctor: Take prednisolone 40 mg for five days, then stop.", ["prednisolone 40 mg for five days"]),
            ("Doctor: Stop the ibuprofen, it can harm your kidneys with the ramipril.", ["stop ibuprofen"]),
            (
                "Patient: I take apixaban twice a day./Doctor: Stop the St John's wort, it doesn't mix with the apixaban.",
                ["apixaban twice a day", "stop St John's wort"]
            ),
            (
                "Patient: I take ramipril 5 mg./Doctor: We'll go up to 10 mg once a day on the ramipril.",
                ["increase ramipril to 10 mg once a day"]
            ),
            (
                "Patient: I take simvastatin 20 mg./Doctor: We'll double that to 40 mg at night.",
                ["increase simvastatin to 40 mg at night"]
            ),
            ("Doctor: Start losartan 25 milligrams, sorry, 50 milligrams once a day.", ["losartan 50 mg once a day"]),
            ("Doctor: Take amoxicillin for two weeks, no, make that three weeks.", ["amoxicillin for three weeks"]),
            (
                "Patient: I take amlodipine 5 mg./Doctor: Let's swap the amlodipine for losartan 50 mg once a day.",
                ["stop amlodipine 5 mg", "losartan 50 mg once a day"]
            ),
            (
                "Patient: Metformin one gram twice a day, gliclazide 80 milligrams in the morning.",
                ["metformin 1 g twice a day", "gliclazide 80 mg in the morning"]
            ),
            ("Patient: I take ramipril 5 mg./Doctor: Change the ramipril to 10 mg.", ["increase ramipril to 10 mg"]),
            (
                "Patient: I use insulin, ten units in the morning and fourteen units at night.",
                ["insulin 10 units in the morning and 14 units at night"]
            ),
            ("Patient: I'm taking zyntrafil for high blood pressure.", ["zyntrafil"]),
            ("Doctor: Let me write you a prescription for amoxicillin.", ["amoxicillin"]),
            ("Doctor: Give her zyntrafil of 4 m g.", ["zyntrafil 4 mg"]),
            ("Doctor: Hold the metformin until the scan is done.", ["stop metformin"]),
            ("Doctor: If it's no better we'll think about propranolol.", []),
            ("Patient: I was on warfarin until March.", []), ("Patient: I read that statins are bad for you.", []),
            ("Patient: The atorvastatin made my legs ache so I stopped it.", []),
            ("Doctor: Paracetamol can damage the liver.", []),
        ])
    func actions(lines: String, expected: [String]) {
        #expect(facts(.medication, in: lines) == expected)
    }

    @Test(
        "the medication of the question before is the one that was not tolerated",
        arguments: [
            (
                "Patient: I take amlodipine 5 mg./Doctor: And lisinopril, do you take that?/Patient: No, I stopped it, it gave me a cough.",
                "lisinopril"
            ),
            ("Doctor: You are allergic to trimethoprim.", "trimethoprim"),
            ("Doctor: I'll put trimethoprim down as an allergy on your record.", "trimethoprim"),
            ("Patient: मुझे पेनिसिलिन से एलर्जी है।", "penicillin"),
        ])
    func allergies(lines: String, medication: String) {
        let found = facts(.allergy, in: lines)
        #expect(found.count == 1 && found[0].contains(medication))
        #expect(!facts(.medication, in: lines).contains { $0.contains(medication) })
    }

    @Test(
        "a no ends where something else is told",
        arguments: [
            ("Doctor: You're not getting any chest pain, are you?/Patient: Well, I am actually.", ["chest pain"], []),
            ("Patient: Bhookh nahi lagti, aur bahut kamzori hai.", ["weakness"], ["denies weakness"]),
            ("Doctor: Do you hear voices?/Patient: No, nothing like that.", [], ["voices, nothing like"]),
            ("Doctor: Have you felt faint?/Patient: No, not at all.", [], ["faint not at all"]),
            (
                "Doctor: Any thoughts of suicide?/Patient: Not really, well, sometimes.",
                ["thoughts of suicide sometimes"], []
            ),
            ("Patient: I think about killing myself.", ["thinks about killing self"], []),
        ] as [(String, [String], [String])])
    func denials(lines: String, said: [String], unsaid: [String]) {
        let found = facts(.chiefComplaint, .complaint, .presentIllness, .negative, in: lines)
        for fact in said { #expect(found.contains(fact), "\(found)") }
        for fact in unsaid { #expect(!found.contains(fact), "\(found)") }
    }

    @Test(
        "an answer has the subject of its question",
        arguments: [
            (
                "Doctor: How high was the fever?/Patient: It went up to 39 degrees last night.",
                "fever went up to 39 degrees last night"
            ),
            (
                "Doctor: Have you taken her temperature?/Patient: Yes, it was 38.9 last night.",
                "temperature was 38.9 last night"
            ),
            ("Doctor: Do you smoke?/Patient: I gave up ten years ago.", "gave up smoking ten years ago"),
            ("Doctor: He is up to date on his immunizations.", "he is up to date on his immunizations"),
            (
                "Doctor: Does diabetes run in the family?/Patient: No./Doctor: How about heart disease?/Patient: No.",
                "no heart disease in the family"
            ),
            ("Doctor: Do you have a history of tobacco or alcohol use?/Patient: No.", "denies history of tobacco"),
            ("Patient: My left knee, sorry, my right knee hurts.", "right knee hurts"),
            ("Doctor: It sounds like migraine without aura.", "migraine without aura"),
            ("Doctor: There is no sign of pneumonia, so you do not need an antibiotic.", "no need for an antibiotic"),
            ("Patient: She's been pulling at her ear.", "she has been pulling at her ear"),
        ])
    func subjects(lines: String, expected: String) {
        let found = FactExtraction.facts(in: lines.split(separator: "/").joined(separator: "\n")).map(\.text)
        #expect(found.contains(expected), "\(found)")
    }
}
