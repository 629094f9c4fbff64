import ScribeDomain

/// Sections of the MTS-Dialog data set by their names, which `note --section` takes beside those of the template.
enum NoteSection {
    private static let illness: [ClinicalFact.Kind] = [.complaint, .presentIllness, .negative]
    private static let plan: [ClinicalFact.Kind] = [
        .investigation, .referral, .plan, .medication, .advice, .returnPrecaution, .followUp,
    ]

    private static let byName: [String: Template.Section] = [
        "GENHX": .init(
            title: "History of Present Illness", facts: illness + [.medicalHistory, .surgicalHistory, .socialHistory],
            isParagraph: true),
        "CC": .init(title: "Chief Complaint", facts: [.chiefComplaint]),
        "ROS": .init(title: "Review of Systems", facts: illness, isParagraph: true),
        "PASTMEDICALHX": .init(
            title: "Past Medical History", facts: [.medicalHistory, .chiefComplaint, .complaint, .negative]),
        "PASTSURGICAL": .init(title: "Past Surgical History", facts: [.surgicalHistory, .negative]),
        "FAM/SOCHX": .init(
            title: "Family and Social History", facts: [.familyHistory, .socialHistory], isParagraph: true),
        "OTHER_HISTORY": .init(title: "Other History", facts: [.history, .presentIllness]),
        "GYNHX": .init(title: "Gynecologic History", facts: [.medicalHistory, .presentIllness]),
        "ALLERGY": .init(title: "Allergies", facts: [.allergy]),
        "MEDICATIONS": .init(title: "Medications", facts: [.medication]),
        "IMMUNIZATIONS": .init(title: "Immunizations", facts: [.medicalHistory, .presentIllness]),
        "EXAM": .init(title: "Examination", facts: [.vital, .examination]),
        "LABS": .init(title: "Laboratory", facts: [.result, .investigation]),
        "IMAGING": .init(title: "Imaging", facts: [.result, .investigation]),
        "PROCEDURES": .init(title: "Procedures", facts: [.surgicalHistory, .plan]),
        "ASSESSMENT": .init(
            title: "Assessment", facts: [.assessment, .complaint, .presentIllness, .medicalHistory], isParagraph: true),
        "DIAGNOSIS": .init(title: "Diagnosis", facts: [.assessment, .medicalHistory]),
        "PLAN": .init(title: "Plan", facts: plan),
        "DISPOSITION": .init(title: "Disposition", facts: [.followUp, .referral, .advice, .plan]),
        "EDCOURSE": .init(title: "Emergency Department Course", facts: [.presentIllness, .result] + plan),
    ]

    static func named(_ name: String) -> Template.Section? { byName[name.uppercased()] }

    static var names: [String] { byName.keys.sorted() }
}
