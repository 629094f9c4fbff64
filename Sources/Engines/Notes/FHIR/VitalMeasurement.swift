/// Vital sign of a note as numbers with units: "blood pressure 152/94", "temperature 38.2".
struct VitalMeasurement: Hashable {
    enum Value: Hashable {
        case quantity(FHIRQuantity)
        case pressure(systolic: FHIRQuantity, diastolic: FHIRQuantity)
    }

    /// Name as the note has it.
    let name: String
    let value: Value
    /// Whether name and value are all that the statement says.
    let isWhole: Bool

    private enum Kind {
        case pressure, temperature, rate, saturation, weight, height, bodyMassIndex
    }

    private static let kinds: [(name: String, kind: Kind)] = [
        ("blood pressure", .pressure), ("bp", .pressure), ("temperature", .temperature), ("temp", .temperature),
        ("pulse", .rate), ("heart rate", .rate), ("respiratory rate", .rate), ("respirations", .rate),
        ("breathing rate", .rate), ("oxygen saturation", .saturation), ("saturation", .saturation),
        ("oxygen", .saturation), ("spo2", .saturation), ("weight", .weight), ("height", .height),
        ("bmi", .bodyMassIndex),
    ]

    /// Longest statement that is read, in bytes.
    private static let longestText = 200

    /// Reads a vital sign; nil for a statement without a known name, value and unit.
    init?(_ text: String) {
        guard text.utf8.count <= Self.longestText else { return nil }
        // Name, posture, value, lower value of a pressure, next word, rest.
        let pattern =
            #/
            ([A-Za-z0-9\ ]*?[A-Za-z]2?) (?: \ (lying|standing|sitting))? \ ([0-9]+(?:\.[0-9]+)?)
            (?: / ([0-9]+))? (?: \ ?([A-Za-z%]+))? (.*)
            /#
        guard let match = text.wholeMatch(of: pattern),
            let kind = Self.kinds.first(where: { $0.name == match.1.lowercased() })?.kind, let first = Double(match.3)
        else { return nil }
        let second = match.4.flatMap { Double($0) }
        let word = match.5?.lowercased() ?? ""
        guard (kind == .pressure) == (second != nil) else { return nil }
        let value: Value
        if let second {
            value = .pressure(
                systolic: FHIRQuantity(first, "mmHg", code: "mm[Hg]"),
                diastolic: FHIRQuantity(second, "mmHg", code: "mm[Hg]"))
        } else if let quantity = Self.quantity(first, kind, unit: word, rest: match.6.lowercased()) {
            value = .quantity(quantity)
        } else {
            return nil
        }
        name = String(match.1)
        self.value = value
        isWhole = match.2 == nil && match.6.isEmpty && !["and", "in", "on"].contains(word)
    }

    private static func quantity(_ value: Double, _ kind: Kind, unit: String, rest: String) -> FHIRQuantity? {
        switch kind {
        case .pressure: nil
        case .temperature: temperature(value, said: "\(unit)\(rest)")
        case .rate: FHIRQuantity(value, "/min", code: "/min")
        // "oxygen 2 litres" is no saturation.
        case .saturation:
            ["", "%", "percent", "and", "on"].contains(unit) && (40...100).contains(value)
                ? FHIRQuantity(value, "%", code: "%") : nil
        case .weight:
            switch unit {
            case "kg", "kilos", "kilograms": FHIRQuantity(value, "kg", code: "kg")
            case "pounds", "lbs": FHIRQuantity(value, "lb", code: "[lb_av]")
            // Without its unit a weight may be in kilograms or in pounds.
            default: nil
            }
        case .height:
            switch unit {
            case "cm", "centimetres", "centimeters": FHIRQuantity(value, "cm", code: "cm")
            default: nil
            }
        case .bodyMassIndex: FHIRQuantity(value, "kg/m2", code: "kg/m2")
        }
    }

    /// Temperature by its scale; without one by its range, since no body has 95 °C.
    private static func temperature(_ value: Double, said: String) -> FHIRQuantity? {
        let isFahrenheit = said.contains("fahrenheit") || said == "f"
        let isCelsius = said.contains("celsius") || said == "c"
        if isFahrenheit || !isCelsius && (85...115).contains(value) {
            return FHIRQuantity(value, "°F", code: "[degF]")
        }
        return isCelsius || (25...45).contains(value) ? FHIRQuantity(value, "°C", code: "Cel") : nil
    }
}
