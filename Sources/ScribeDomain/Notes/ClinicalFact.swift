/// Statement of medical meaning from a transcript, in the note's wording.
package struct ClinicalFact: Hashable, Sendable {
    /// Category of a fact; the raw values are the names that templates use.
    package enum Kind: String, Hashable, Sendable, Codable, CaseIterable {
        /// Reason why the patient came.
        case chiefComplaint = "chief_complaint"
        /// Symptom of the patient; also the reason for the visit, in templates that ask for complaints.
        case complaint
        /// Detail of the illness: onset, course, what makes it better or worse.
        case presentIllness = "present_illness"
        /// Symptom that the clinician asked about and the patient denies.
        case negative
        /// History of any kind: medical, surgical, family, social.
        case history
        case medicalHistory = "medical_history"
        case surgicalHistory = "surgical_history"
        case familyHistory = "family_history"
        case socialHistory = "social_history"
        case allergy
        /// Vital sign with its value.
        case vital
        /// Examination finding; also vital signs and results, in templates that ask for examination alone.
        case examination
        /// Result of a test.
        case result
        case assessment
        case medication
        /// Test that the clinician orders.
        case investigation
        case referral
        /// Other planned measures.
        case plan
        /// Advice to do or to avoid something.
        case advice
        /// Symptom for which the patient is to come back at once.
        case returnPrecaution = "return_precaution"
        case followUp = "follow_up"

        /// Broader category that held these facts before this category existed, so
        /// that older templates still show them.
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
    /// Text of the fact in the note's wording, built from spoken words.
    package let text: String
    /// Named parts of the fact, for example `dose` and `frequency` of a medication.
    package let details: [String: String]
    /// Range of the fact's words in the transcript; nil if unknown.
    package let source: Range<String.Index>?
    /// Name of the rule that has read the fact; nil if no rule has.
    package let rule: String?

    package init(
        _ kind: Kind, _ text: String, details: [String: String] = [:], source: Range<String.Index>? = nil,
        rule: String? = nil
    ) {
        self.kind = kind
        self.text = text
        self.details = details
        self.source = source
        self.rule = rule
    }

    /// Compares facts by what they say; the place in the transcript and the rule do not count.
    package static func == (first: Self, second: Self) -> Bool {
        first.kind == second.kind && first.text == second.text && first.details == second.details
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(kind)
        hasher.combine(text)
        hasher.combine(details)
    }
}
