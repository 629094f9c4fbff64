import Basics
import ScribeDomain

extension ClinicalFact {
    /// Encodes a medicine of the transcript as `TSuggestedMedicationResponse` of eka-js-sdk.
    ///
    /// `suggestions` is always empty: the server has no drug database.
    var suggestedMedication: JSON {
        // Null if the transcript does not mention the part.
        func part(_ name: String) -> JSON { details[name].map(JSON.string).orNull }
        return [
            "extracted": [
                "name": .string(details["name"] ?? text), "dose": part("dose"), "frequency": part("frequency"),
                "duration": part("duration"), "route": part("route"),
            ],
            "suggestions": [],
        ]
    }
}
