import Basics

/// Quantity of FHIR with its unit in UCUM.
struct FHIRQuantity: Hashable {
    let value: Double
    /// Unit in words.
    let unit: String
    /// Unit in UCUM; nil for a unit that UCUM lacks, such as tablets.
    let code: String?

    init(_ value: Double, _ unit: String, code: String?) {
        self.value = value
        self.unit = unit
        self.code = code
    }

    /// Reads a dose such as `400 mg` or `2 tablets`; nil for any other text.
    init?(dose: String) {
        let parts = dose.split(separator: " ")
        guard parts.count == 2, let value = Double(parts[0].filter { $0 != "," }), value.isFinite else { return nil }
        let code: [Substring: String] = ["mg": "mg", "mcg": "ug", "g": "g", "ml": "mL", "iu": "[iU]"]
        self.init(value, String(parts[1]), code: code[parts[1]])
    }

    var json: JSON {
        [
            "value": .number(value), "unit": .string(unit), "system": code.map { _ in "http://unitsofmeasure.org" },
            "code": code.map(JSON.string),
        ]
    }
}
