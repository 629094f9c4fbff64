import Basics
import ScribeDomain

/// Encodes one clinical fact as a FHIR R4 resource.
struct FHIRResource {
    let fact: ClinicalFact
    let visit: Visit
    let references: FHIRDocument.References

    var json: JSON {
        if let immunization { return immunization }
        return switch fact.kind {
        case .negative: absence
        case .vital: vital
        case .presentIllness, .familyHistory, .socialHistory, .examination, .result: observation(of: label)
        case .plan where !isDenied && Vaccination(fact.text) != nil: serviceRequest
        case .plan, .advice, .returnPrecaution, .followUp: carePlan
        case .investigation, .referral: isDenied ? carePlan : serviceRequest
        case .allergy where Self.deniesAll(fact.text): allergy
        // A resource that is named by what was denied would state the opposite.
        case _ where isDenied: observation(of: label)
        // "Immunizations up to date" is no illness.
        case .history where Vaccination(fact.text) != nil, .medicalHistory where Vaccination(fact.text) != nil:
            observation(of: label)
        case .chiefComplaint, .complaint, .history, .medicalHistory, .assessment: condition
        case .surgicalHistory: procedure
        case .allergy: allergy
        case .medication: medication
        }
    }

    // MARK: Parts

    private func text(_ text: String) -> JSON { ["text": .string(text)] }

    private var time: JSON { .string(visit.time.iso8601) }

    /// Name of the fact's kind, in words.
    private var label: String {
        switch fact.kind {
        case .chiefComplaint, .complaint: "Complaint"
        case .presentIllness: "History of present illness"
        case .negative: "Symptom"
        case .history, .medicalHistory: "Medical history"
        case .surgicalHistory: "Surgical history"
        case .familyHistory: "Family history"
        case .socialHistory: "Social history"
        case .allergy: "Allergy"
        case .vital: "Vital signs"
        case .examination: "Examination finding"
        case .result: "Test result"
        case .assessment: "Assessment"
        case .medication: "Medication"
        case .investigation, .referral, .plan, .advice, .returnPrecaution, .followUp: "Plan"
        }
    }

    private static let denials = Lexicon.negations.union([
        "none", "nothing", "nil", "unlikely", "negative", "absent", "nahi", "nahin", "नहीं",
    ])
    private static let denialPhrases = ["rule out", "ruled out", "free of", "free from"]

    /// Whether the statement denies something.
    private var isDenied: Bool {
        let words = fact.text.lowercased().withPlainApostrophes.words.map { $0.trimmingPunctuation() }
        let sentence = " \(words.joined(separator: " ")) "
        return words.contains(where: Self.denials.contains)
            || Self.denialPhrases.contains { sentence.contains(" \($0) ") }
    }

    private static func deniesAll(_ text: String) -> Bool {
        text.lowercased().wholeMatch(of: /no (known )?((drug|food|medication|medicine) )?allerg(y|ies)/) != nil
    }

    // MARK: Resources

    /// Condition that is named by the whole statement: "possible gout" and "grandson had the flu" name no illness of
    /// the patient.
    private var condition: JSON {
        [
            "resourceType": "Condition", "category": [text(label)], "code": text(fact.text),
            "subject": references.patient, "encounter": references.encounter, "recordedDate": time,
        ]
    }

    private var procedure: JSON {
        [
            "resourceType": "Procedure", "status": "completed", "code": text(fact.text), "subject": references.patient,
        ]
    }

    /// Observation that a symptom is absent.
    private var absence: JSON {
        guard let name = fact.details["name"] else { return observation(of: label) }
        return observation(text(name), ["valueBoolean": false])
    }

    private func observation(of name: String) -> JSON { observation(text(name), ["valueString": .string(fact.text)]) }

    private func observation(_ code: JSON, category: JSON? = nil, _ value: JSON) -> JSON {
        let observation: JSON = [
            "resourceType": "Observation", "status": "preliminary", "category": category, "code": code,
            "subject": references.patient, "encounter": references.encounter, "effectiveDateTime": time,
        ]
        return observation.adding(value)
    }

    private var vital: JSON {
        let category: JSON = [text(label)]
        guard let sign = VitalMeasurement(fact.text) else {
            return observation(text(label), category: category, ["valueString": .string(fact.text)])
        }
        let value: JSON =
            switch sign.value {
            case .quantity(let quantity): ["valueQuantity": quantity.json]
            case .pressure(let systolic, let diastolic):
                [
                    "component": [
                        ["code": text("systolic blood pressure"), "valueQuantity": systolic.json],
                        ["code": text("diastolic blood pressure"), "valueQuantity": diastolic.json],
                    ]
                ]
            }
        let remark: JSON = sign.isWhole ? [:] : ["note": [text(fact.text)]]
        return observation(text(sign.name), category: category, value.adding(remark))
    }

    private var allergy: JSON {
        let substance = fact.text.prefixMatch(of: /(is )?allergic to (?=\S)/.ignoresCase())
            .map { String(fact.text[$0.range.upperBound...]) }
        let active: JSON = [
            "coding": [
                [
                    "system": "http://terminology.hl7.org/CodeSystem/allergyintolerance-clinical", "code": "active",
                ]
            ]
        ]
        return [
            "resourceType": "AllergyIntolerance", "clinicalStatus": active,
            "code": text(substance ?? fact.text), "patient": references.patient,
            "encounter": references.encounter, "recordedDate": time,
        ]
    }

    private var medication: JSON {
        let status =
            switch fact.details["change"] {
            case "stopped": "stopped"
            case "started": "intended"
            case "increased", "decreased", "continued": "active"
            // "Takes" and "took" are the same to the rules.
            default: "unknown"
            }
        let parts = ["dose", "frequency", "duration"].compactMap { fact.details[$0] }
        let dose: JSON? = fact.details["dose"].flatMap(FHIRQuantity.init(dose:)).map {
            [["doseQuantity": $0.json]]
        }
        let dosage: JSON = ["text": .string(parts.joined(separator: " ")), "doseAndRate": dose]
        return [
            "resourceType": "MedicationStatement", "status": .string(status),
            "medicationCodeableConcept": text(fact.details["name"] ?? fact.text), "subject": references.patient,
            "context": references.encounter,
            "dateAsserted": time, "note": [text(fact.text)], "dosage": parts.isEmpty ? nil : [dosage],
        ]
    }

    private var serviceRequest: JSON {
        [
            "resourceType": "ServiceRequest", "status": "draft", "intent": "plan", "code": text(fact.text),
            "subject": references.patient, "encounter": references.encounter, "authoredOn": time,
        ]
    }

    private var carePlan: JSON {
        [
            "resourceType": "CarePlan", "status": "draft", "intent": "plan", "description": .string(fact.text),
            "subject": references.patient, "encounter": references.encounter, "created": time,
        ]
    }

    /// Immunization that the statement reports; nil if it reports none.
    private var immunization: JSON? {
        guard [.presentIllness, .history, .medicalHistory].contains(fact.kind),
            let vaccine = Vaccination(fact.text), vaccine.isReported
        else { return nil }
        return [
            "resourceType": "Immunization", "status": isDenied ? "not-done" : "completed",
            "vaccineCode": text(vaccine.name), "patient": references.patient,
            // The time of an immunization is told in words.
            "occurrenceString": .string(fact.text),
        ]
    }
}
