import Basics
import ScribeDomain

/// Encodes the facts of a transcript as a FHIR R4 bundle, for version 1 of the API.
///
/// Concepts are texts without codes: a code would state more than the speaker said.
enum FHIRBundle {
    private static let patient: JSON = ["reference": "Patient/patient"]

    /// Encodes clinical facts as a bundle with one patient.
    /// - Parameter id: The bundle's id, such as the transaction's.
    static func json(id: String, _ facts: [ClinicalFact]) -> JSON {
        let patient: JSON = ["resourceType": "Patient", "id": "patient"]
        let resources = [patient] + facts.enumerated().map { resource(at: $0, for: $1) }
        return [
            "resourceType": "Bundle", "id": .string(id), "type": "collection",
            "entry": .array(resources) { ["resource": $0] },
        ]
    }

    private static func resource(at index: Int, for fact: ClinicalFact) -> JSON {
        let kind = (fact.kind.broader ?? fact.kind).rawValue
        let text: JSON = ["text": .string(fact.details["name"] ?? fact.text)]
        let members: JSON =
            switch fact.kind {
            case .chiefComplaint, .complaint, .history, .medicalHistory, .assessment:
                [
                    "resourceType": "Condition", "subject": patient, "code": text,
                    "category": [["text": .string(kind)]],
                ]
            case .allergy: ["resourceType": "AllergyIntolerance", "patient": patient, "code": text]
            case .surgicalHistory:
                ["resourceType": "Procedure", "status": "completed", "subject": patient, "code": text]
            case .presentIllness, .negative, .familyHistory, .socialHistory, .vital, .examination, .result:
                [
                    "resourceType": "Observation", "status": "final", "subject": patient, "code": text,
                    "valueString": .string(fact.text),
                ]
            case .medication:
                [
                    "resourceType": "MedicationRequest",
                    "status": fact.details["change"] == "stopped" ? "stopped" : "active", "intent": "order",
                    "subject": patient, "medicationCodeableConcept": text,
                    "dosageInstruction": [["text": .string(fact.text)]],
                ]
            case .investigation, .referral:
                [
                    "resourceType": "ServiceRequest", "status": "active", "intent": "order", "subject": patient,
                    "code": text,
                ]
            case .plan, .advice, .returnPrecaution, .followUp:
                [
                    "resourceType": "CarePlan", "status": "active", "intent": "plan", "subject": patient,
                    "description": .string(fact.text),
                ]
            }
        return members.adding(["id": "\(kind.replacing("_", with: "-"))-\(index + 1)"])
    }
}
