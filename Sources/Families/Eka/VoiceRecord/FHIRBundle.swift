package import ScribeDomain

/// The facts of a transcript as a FHIR R4 bundle, which version 1 of the API delivers.
///
/// Codes are texts only: whoever codes them knows more than was said.
package enum FHIRBundle {
    private static let patient = JSONValue.object(["reference": .string("Patient/patient")])

    /// - Parameter id: of the bundle, for example the transaction's.
    package static func make(id: String, _ facts: [ClinicalFact]) -> JSONValue {
        var resources = [JSONValue.object(["resourceType": .string("Patient"), "id": .string("patient")])]
        for (index, fact) in facts.enumerated() {
            resources.append(
                resource(
                    for: fact, id: "\((fact.kind.broader ?? fact.kind).rawValue.replacing("_", with: "-"))-\(index + 1)"
                ))
        }
        return .object([
            "resourceType": .string("Bundle"), "id": .string(id), "type": .string("collection"),
            "entry": .array(resources.map { .object(["resource": $0]) }),
        ])
    }

    private static func resource(for fact: ClinicalFact, id: String) -> JSONValue {
        let text = JSONValue.object(["text": .string(fact.details["name"] ?? fact.text)])
        var members: [String: JSONValue] = ["id": .string(id)]
        switch fact.kind {
        case .chiefComplaint, .complaint, .history, .medicalHistory, .assessment:
            members["resourceType"] = .string("Condition")
            members["subject"] = patient
            members["code"] = text
            members["category"] = .array([.object(["text": .string((fact.kind.broader ?? fact.kind).rawValue)])])
        case .allergy:
            members["resourceType"] = .string("AllergyIntolerance")
            members["patient"] = patient
            members["code"] = text
        case .surgicalHistory:
            members["resourceType"] = .string("Procedure")
            members["status"] = .string("completed")
            members["subject"] = patient
            members["code"] = text
        case .presentIllness, .negative, .familyHistory, .socialHistory, .vital, .examination, .result:
            members["resourceType"] = .string("Observation")
            members["status"] = .string("final")
            members["subject"] = patient
            members["code"] = text
            members["valueString"] = .string(fact.text)
        case .medication:
            members["resourceType"] = .string("MedicationRequest")
            members["status"] = .string(fact.details["change"] == "stopped" ? "stopped" : "active")
            members["intent"] = .string("order")
            members["subject"] = patient
            members["medicationCodeableConcept"] = text
            members["dosageInstruction"] = .array([.object(["text": .string(fact.text)])])
        case .investigation, .referral:
            members["resourceType"] = .string("ServiceRequest")
            members["status"] = .string("active")
            members["intent"] = .string("order")
            members["subject"] = patient
            members["code"] = text
        case .plan, .advice, .returnPrecaution, .followUp:
            members["resourceType"] = .string("CarePlan")
            members["status"] = .string("active")
            members["intent"] = .string("plan")
            members["subject"] = patient
            members["description"] = .string(fact.text)
        }
        return .object(members)
    }
}
