import ScribeDomain
import ScribeHTTP

/// The medicines that were spoken of, as `TSuggestedMedicationResponse` of eka-js-sdk has them. There is no drug
/// database here to suggest from.
struct SuggestedMedications: Encodable {
    private struct Item: Encodable {
        /// Its name, and null for what was not said of the rest.
        let extracted: [String: String?]
        let suggestions: [String] = []
    }

    private let status = "success"
    private let session: TransactionID
    private let medications: [Item]

    private enum CodingKeys: String, CodingKey {
        case status, medications
        case session = "session_id"
    }

    init(session: TransactionID, _ facts: [ClinicalFact]) {
        self.session = session
        medications = facts.map { fact in
            var extracted: [String: String?] = ["name": fact.details["name"] ?? fact.text]
            for part in ["dose", "frequency", "duration", "route"] { extracted[part] = .some(fact.details[part]) }
            return Item(extracted: extracted)
        }
    }
}
