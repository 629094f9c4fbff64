import ScribeDomain

extension ClinicalFact {
    /// A medicine of the transcript, as `TSuggestedMedicationResponse` of eka-js-sdk has it. There is no drug database
    /// here to suggest from.
    var suggestedMedication: JSON {
        // Null where the transcript does not say it.
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
