import Basics

/// Vaccine that a statement names: "had the flu shot in October", "was vaccinated against covid".
struct Vaccination: Hashable {
    /// Name of the vaccine in the statement's words.
    let name: String
    /// Whether the patient had it, or denies it: "wants the flu shot" is a wish.
    let isReported: Bool

    private static let nouns: Set = [
        "vaccine", "vaccines", "vaccination", "vaccinations", "immunization", "immunisation", "immunizations",
        "immunisations", "booster",
    ]
    /// Nouns that mean a vaccine only after a disease: "flu shot".
    private static let shots: Set = ["shot", "shots", "jab", "jabs"]
    private static let verbs: Set = ["vaccinated", "immunized", "immunised"]
    private static let diseases: Set = [
        "flu", "influenza", "covid", "covid-19", "tetanus", "pneumonia", "pneumococcal", "shingles", "hepatitis", "hpv",
        "mmr", "measles", "rabies", "typhoid", "polio", "rubella", "varicella", "chickenpox", "meningitis", "tdap",
        "bcg", "cholera", "diphtheria", "rsv",
    ]
    private static let ends: Set = [
        "in", "on", "at", "last", "this", "two", "three", "a", "when", "since", "before", "after", "yesterday", "today",
        "but", "because", "ago", "as", "every",
    ]

    private static let receipt: Set = [
        "had", "has", "have", "got", "gets", "gotten", "received", "given", "took", "taken", "vaccinated", "immunized",
        "immunised",
    ]
    private static let wishes: Set = [
        "want", "wants", "wanted", "need", "needs", "should", "would", "will", "due", "overdue", "going", "next",
        "ask", "asks", "asked", "refuses", "declines", "declined", "offer", "offered", "consider", "discuss", "could",
        "may", "might", "maybe", "if",
    ]

    /// Finds the vaccine of a statement; nil without one.
    init?(_ text: String) {
        let words = text.words.map { $0.lowercased().trimmingPunctuation() }
        guard let name = Self.name(in: words) else { return nil }
        self.name = name
        isReported = words.contains(where: Self.receipt.contains) && !words.contains(where: Self.wishes.contains)
    }

    private static func name(in words: [String]) -> String? {
        if let place = words.firstIndex(where: { nouns.contains($0) || shots.contains($0) }) {
            let start = max(0, place - 2)
            if let disease = words[start..<place].firstIndex(where: diseases.contains) {
                return words[disease...place].joined(separator: " ")
            }
            return nouns.contains(words[place]) ? words[place] : nil
        }
        guard let place = words.firstIndex(where: verbs.contains) else { return nil }
        let rest = words[(place + 1)...]
        guard ["against", "for"].contains(rest.first) else { return words[place] }
        let disease = rest.dropFirst().prefix { !ends.contains($0) }.joined(separator: " ")
        return disease.isEmpty ? words[place] : disease
    }
}
