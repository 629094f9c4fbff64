import Foundation
import ScribeDomain

/// A section of a note in Suki's API, identified by its LOINC code (suki.md section 9).
struct AmbientSection: Hashable, Sendable {
    let code: String
    let title: String
    /// Kinds of facts that belong in the section; empty if the server recognises none of them.
    let facts: [ClinicalFact.Kind]
    /// Words that a fact must mention; empty for any fact.
    let words: [String]

    private init(_ code: String, _ title: String, _ facts: [ClinicalFact.Kind] = [], _ words: [String] = []) {
        self.code = code
        self.title = title
        self.facts = facts
        self.words = words
    }

    /// Default sections: SOAP's four.
    static let defaultCodes = ["10154-3", "10164-2", "29545-1", "51847-2"]

    static let presentIllness = "10164-2"
    /// Facts that join the present illness if no requested section holds them.
    static let joinsPresentIllness: [ClinicalFact.Kind] = [
        .negative, .medicalHistory, .surgicalHistory, .familyHistory, .socialHistory, .allergy,
    ]

    /// Sections with selectable verbosity and style.
    static let styled: Set = ["10164-2", "51847-2", "51848-0", "18776-5"]

    static let all: [AmbientSection] = [
        .init("39238-1", "Anticipatory Guidance", [.advice]),
        .init("42348-3", "Advanced Directives"),
        .init("48765-2", "Allergies", [.allergy]),
        .init("51848-0", "Assessment", [.assessment]),
        .init("51847-2", "Assessment and Plan", [.assessment] + plan),
        .init("10154-3", "Chief Complaint", [.chiefComplaint]),
        .init("61144-2", "Diet", [.advice], diet),
        .init("55128-3", "Disposition", [.followUp, .referral]),
        .init("46239-0", "Discussion Notes"),
        .init("10157-6", "Family History", [.familyHistory]),
        .init("47420-5", "Functional Status"),
        .init("8648-8", "Hospital Course"),
        .init("10164-2", "History of Present Illness", [.complaint, .presentIllness]),
        .init("11369-6", "Immunizations", [.medicalHistory], immunization),
        .init("61150-9", "Interval History"),
        .init("10160-0", "Medications", [.medication]),
        .init("10190-7", "Mental Status Exam"),
        .init("11348-0", "Past Medical History", [.medicalHistory]),
        .init("11358-9", "Past Psychiatric History", [.medicalHistory], psychiatric),
        .init("10167-5", "Past Surgical History", [.surgicalHistory]),
        .init("69730-0", "Patient Instructions", [.advice, .returnPrecaution, .followUp]),
        .init("29545-1", "Physical Exam", [.examination]),
        .init("18776-5", "Plan", plan),
        .init("11450-4", "Problem List", [.assessment]),
        .init("47519-4", "Procedure"),
        .init("56822-0", "Response to Therapy"),
        .init("30954-2", "Results", [.result]),
        .init("78486-8", "Risk Assessment"),
        .init("10187-3", "Review of Systems", [.negative]),
        .init("29299-5", "Reason for Visit", [.chiefComplaint]),
        .init("29762-2", "Social History", [.socialHistory]),
        .init("75325-1", "Symptoms and Stressors", [.complaint]),
        .init("61146-7", "Therapy Goals"),
        .init("8716-3", "Vitals", [.vital]),
        .init("11334-0", "Development History"),
    ]

    private static let byCode = Dictionary(all.map { ($0.code, $0) }, uniquingKeysWith: { first, _ in first })

    static subscript(code: String) -> AmbientSection? { byCode[code] }

    /// The section with this title, in any case.
    static func titled(_ title: String) -> AmbientSection? {
        all.first { $0.title.caseInsensitiveCompare(title) == .orderedSame }
    }

    private static let plan: [ClinicalFact.Kind] = [
        .medication, .investigation, .referral, .plan, .advice, .returnPrecaution, .followUp,
    ]
    private static let psychiatric = ["depression", "anxiety", "bipolar", "schizophrenia", "panic", "suicidal"]
    private static let immunization = [
        "vaccine", "vaccinated", "vaccination", "immunized", "immunization", "shot", "booster",
    ]
    private static let diet = ["diet", "eat", "eating", "food", "salt", "sugar", "fluids", "water", "meals"]
}
