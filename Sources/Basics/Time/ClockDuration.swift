/// Duration as operators write it: `90s`, `1.5h`, `30d`, or ISO 8601's `P1DT2H30M5S`.
package struct ClockDuration: Hashable, Sendable {
    package let duration: Duration

    /// Longest duration, in seconds: some 300 years.
    private static let longest = 1e10
    private static let units: [(name: String, seconds: Double)] = [
        ("ms", 0.001), ("s", 1), ("m", 60), ("h", 3600), ("d", 86_400),
    ]

    /// - Returns: nil for a text that is no duration, or a negative one.
    package init?(_ text: String) {
        guard text.utf8.count <= 64, let seconds = text.hasPrefix("P") ? Self.iso(text) : Self.plain(text),
            seconds <= Self.longest
        else { return nil }
        duration = .milliseconds(Int64(saturating: (seconds * 1000).rounded()))
    }

    private static func plain(_ text: String) -> Double? {
        guard let unit = units.first(where: { text.hasSuffix($0.name) && ($0.name != "s" || !text.hasSuffix("ms")) })
        else { return nil }
        return number(text.dropLast(unit.name.count)).map { $0 * unit.seconds }
    }

    private static func iso(_ text: String) -> Double? {
        var (total, digits, isTime, hasAny) = (0.0, "", false, false)
        for character in text.dropFirst() {
            switch character {
            case "T" where !isTime && digits.isEmpty: isTime = true
            case "0"..."9", ".": digits.append(character)
            default:
                let seconds: Double? =
                    switch (character, isTime) {
                    case ("W", false): 604_800
                    case ("D", false): 86_400
                    case ("H", true): 3600
                    case ("M", true): 60
                    case ("S", true): 1
                    default: nil
                    }
                guard let seconds, let count = number(digits[...]) else { return nil }
                (total, digits, hasAny) = (total + count * seconds, "", true)
            }
        }
        return hasAny && digits.isEmpty ? total : nil
    }

    private static func number(_ text: Substring) -> Double? {
        guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) || $0 == 0x2E }) else { return nil }
        return Double(text)
    }

    /// Writes seconds so that ``init(_:)`` reads them again, rounded up to milliseconds.
    package static func text(_ seconds: Double) -> String {
        let milliseconds = Int64(saturating: (min(max(0, seconds), longest) * 1000).rounded(.up))
        return milliseconds % 1000 == 0 ? "\(milliseconds / 1000)s" : "\(milliseconds)ms"
    }
}
