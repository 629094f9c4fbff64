import Basics
import ScribeRuntime

extension AmbientContext.Diagnosis {
    var json: JSON {
        [
            "codes": .array(codes) {
                ["code": .string($0.code), "description": .string($0.description), "type": .string($0.type)]
            },
            "diagnosis_note": .string(note),
            // Laterality and post-coordination are not recognised.
            "laterality_indicator": 0, "post_coord_lex_flag": 0,
        ]
    }

    /// Finds diagnoses that the transcripts of notes mention, each once: first those of the session's context, then
    /// those with a known code (suki.md 3.11).
    static func mentioned(in notes: [AmbientSessions.Note]) -> [Self] {
        var found: [Self] = []
        var known: Set<String> = []
        var names = DiagnosisNames()
        for note in notes {
            let spoken = SpokenWords(note.transcript)
            for given in note.transaction.ambientTerms?.context.diagnoses ?? []
            where spoken.mention(any: names.names(of: given)) {
                // Codes stay as given: nothing is mapped to another code system.
                guard known.isDisjoint(with: given.codes.map(\.code)) else { continue }
                known.formUnion(given.codes.map(\.code))
                known.formUnion(names.codes(of: given))
                found.append(given)
            }
            for entry in DiagnosisCode.all
            where !known.contains(entry.code) && spoken.mention(any: names.names(of: entry)) {
                known.insert(entry.code)
                found.append(
                    Self(codes: [.init(type: "ICD10", code: entry.code, description: entry.description)], note: ""))
            }
        }
        return found
    }
}

/// Conditions with a code that follows from the name alone: the unspecified code of the category.
///
/// From ICD-10-CM, fiscal year 2026, of the National Center for Health Statistics (in the public domain): tabular list,
/// by the categories' own titles.
struct DiagnosisCode {
    let code: String
    let description: String
    /// Spoken names, in lower case.
    let words: [String]

    static let all: [DiagnosisCode] = [
        .init(
            code: "I10", description: "Essential (primary) hypertension",
            words: ["hypertension", "high blood pressure"]),
        .init(
            code: "E11.9", description: "Type 2 diabetes mellitus without complications",
            words: ["type 2 diabetes", "type two diabetes"]),
        .init(code: "E78.5", description: "Hyperlipidemia, unspecified", words: ["hyperlipidemia"]),
        .init(
            code: "J06.9", description: "Acute upper respiratory infection, unspecified",
            words: ["upper respiratory infection"]),
        .init(code: "J02.9", description: "Acute pharyngitis, unspecified", words: ["acute pharyngitis"]),
        .init(
            code: "J45.909", description: "Unspecified asthma, uncomplicated", words: ["asthma"]),
        .init(
            code: "J44.9", description: "Chronic obstructive pulmonary disease, unspecified",
            words: ["chronic obstructive pulmonary disease", "copd"]),
        .init(
            code: "K21.9", description: "Gastro-esophageal reflux disease without esophagitis",
            words: ["acid reflux", "gerd"]),
        .init(
            code: "N39.0", description: "Urinary tract infection, site not specified",
            words: ["urinary tract infection"]),
        .init(
            code: "G43.909", description: "Migraine, unspecified, not intractable, without status migrainosus",
            words: ["migraine", "migraines"]),
        .init(code: "E03.9", description: "Hypothyroidism, unspecified", words: ["hypothyroidism"]),
        .init(code: "B34.9", description: "Viral infection, unspecified", words: ["viral infection"]),
    ]
}

/// Sentences of a transcript, searchable for names.
private struct SpokenWords {
    private let sentences: SentenceIndex

    /// Words that negate a later name in the same sentence.
    private static let denials: Set<Substring> = ["no", "not", "never", "denies", "without", "don't", "doesn't"]

    init(_ transcript: String) {
        // Words after a negation are dropped.
        sentences = SentenceIndex(
            transcript.sentences.map { Array($0.plainWords.prefix { !Self.denials.contains($0) }) })
    }

    /// Whether any of the names occurs.
    /// - Parameter names: Each name split into words.
    func mention(any names: [[Substring]]) -> Bool { names.contains { sentences.first(with: $0) != nil } }
}

/// Names of diagnoses, split into words once for all notes.
private struct DiagnosisNames {
    private var given: [AmbientContext.Diagnosis: [[Substring]]] = [:]
    private var words: [String: [Substring]] = [:]

    /// Names of a diagnosis: its codes, their descriptions with and without bracketed or comma parts, and known spoken
    /// names.
    mutating func names(of diagnosis: AmbientContext.Diagnosis) -> [[Substring]] {
        if let known = given[diagnosis] { return known }
        var names: Set<String> = []
        for code in diagnosis.codes {
            // A code without letters is skipped: numbers occur in speech for many reasons.
            if code.code.contains(where: \.isLetter) { names.insert(code.code) }
            let plain = code.description.split(separator: "(").first.map(String.init) ?? ""
            let short = plain.split(separator: ",").first.map(String.init) ?? ""
            names.formUnion([code.description, plain, short, Self.withoutBrackets(code.description)])
            names.formUnion(DiagnosisCode.all.first { $0.code == code.code }?.words ?? [])
        }
        let found = names.map { words(of: $0) }
        given[diagnosis] = found
        return found
    }

    /// Known codes that share a name with the diagnosis.
    mutating func codes(of diagnosis: AmbientContext.Diagnosis) -> [String] {
        let own = names(of: diagnosis)
        return DiagnosisCode.all.filter { code in names(of: code).contains { own.contains($0) } }.map(\.code)
    }

    mutating func names(of code: DiagnosisCode) -> [[Substring]] { code.words.map { words(of: $0) } }

    private mutating func words(of name: String) -> [Substring] {
        if let known = words[name] { return known }
        let found = name.plainWords
        words[name] = found
        return found
    }

    private static func withoutBrackets(_ text: String) -> String {
        var depth = 0
        return String(
            text.filter { character in
                if character == "(" { depth += 1 }
                defer { if character == ")" { depth = max(0, depth - 1) } }
                return depth == 0
            })
    }
}
