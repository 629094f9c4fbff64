/// Something of medical meaning that was said, as a note says it.
package struct ClinicalFact: Hashable, Sendable {
    /// What a fact is about; the raw values are the names that templates use.
    package enum Kind: String, Hashable, Sendable, Codable, CaseIterable {
        /// What brought the patient in.
        case chiefComplaint = "chief_complaint"
        /// What the patient suffers from; also what brought the patient in, where a template asks for complaints.
        case complaint
        /// What else is told of it: how it began, what makes it better or worse.
        case presentIllness = "present_illness"
        /// What was asked about and is not so.
        case negative
        /// Any history: medical, surgical, of the family, social.
        case history
        case medicalHistory = "medical_history"
        case surgicalHistory = "surgical_history"
        case familyHistory = "family_history"
        case socialHistory = "social_history"
        case allergy
        /// A vital sign with its value.
        case vital
        /// What the examination found; also vital signs and results, where a template asks for examination alone.
        case examination
        /// A test's outcome.
        case result
        case assessment
        case medication
        /// A test that was ordered.
        case investigation
        case referral
        /// What else will be done.
        case plan
        /// What the patient was told to do or to avoid.
        case advice
        /// What the patient is to come back for at once.
        case returnPrecaution = "return_precaution"
        case followUp = "follow_up"

        /// The kind under which it was known before there was a narrower one, so that templates of then still have it.
        package var broader: Kind? {
            switch self {
            case .chiefComplaint: .complaint
            case .medicalHistory, .surgicalHistory, .familyHistory, .socialHistory: .history
            case .vital, .result: .examination
            case .investigation, .referral, .plan: .advice
            case .returnPrecaution: .followUp
            case .complaint, .presentIllness, .negative, .history, .allergy, .examination, .assessment, .medication,
                .advice, .followUp:
                nil
            }
        }
    }

    package let kind: Kind
    /// In the note's voice, of words that were spoken.
    package let text: String
    /// Named parts, for example `dose` and `frequency` of a medication.
    package let details: [String: String]
    /// Where the words stand in the transcript; nil where that is not known.
    package let source: Range<String.Index>?

    package init(
        _ kind: Kind, _ text: String, details: [String: String] = [:], source: Range<String.Index>? = nil
    ) {
        self.kind = kind
        self.text = text
        self.details = details
        self.source = source
    }

    /// Facts that say the same are the same, wherever they were said.
    package static func == (first: Self, second: Self) -> Bool {
        first.kind == second.kind && first.text == second.text && first.details == second.details
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(kind)
        hasher.combine(text)
        hasher.combine(details)
    }
}
