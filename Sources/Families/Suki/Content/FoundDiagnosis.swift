import ScribeDomain
import ScribeRuntime

/// A diagnosis that was spoken of (suki.md 3.11): one that was given, or one of the few that a code is known for.
struct FoundDiagnosis {
    let codes: [AmbientContext.Diagnosis.Code]
    let note: String

    var json: JSON {
        [
            "codes": .array(codes) {
                ["code": .string($0.code), "description": .string($0.description), "type": .string($0.type)]
            },
            "diagnosis_note": .string(note),
            // Nothing is told apart by side, nor coordinated further.
            "laterality_indicator": 0, "post_coord_lex_flag": 0,
        ]
    }

    /// Of each note those that its session was given and that were spoken of, then those that were found in its
    /// assessment; each once.
    static func all(in notes: [AmbientSessions.Note]) -> [FoundDiagnosis] {
        var found: [FoundDiagnosis] = []
        var known: Set<String> = []
        var names = DiagnosisNames()
        for note in notes {
            let spoken = SpokenWords(note.transcript)
            for given in note.transaction.ambientTerms?.context.diagnoses ?? []
            where spoken.mention(any: names.names(of: given)) {
                // As it was given: nothing is mapped, and what has a code of another system gets none beside it.
                let codes = given.codes
                guard known.isDisjoint(with: codes.map(\.code)) else { continue }
                known.formUnion(codes.map(\.code))
                known.formUnion(names.codes(of: given))
                found.append(FoundDiagnosis(codes: codes, note: given.note))
            }
            for entry in DiagnosisCode.all
            where !known.contains(entry.code) && spoken.mention(any: names.names(of: entry)) {
                known.insert(entry.code)
                found.append(
                    FoundDiagnosis(
                        codes: [.init(type: "ICD10", code: entry.code, description: entry.description)], note: ""))
            }
        }
        return found
    }
}

/// Conditions whose names alone give their code, each the unspecified one of its category.
///
/// From ICD-10-CM, fiscal year 2026, of the National Center for Health Statistics (in the public domain): tabular list,
/// by the categories' own titles.
struct DiagnosisCode {
    let code: String
    let description: String
    /// As they are spoken of, in lower case.
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

/// What was said, to look for names in.
private struct SpokenWords {
    private let sentences: SentenceIndex

    /// Before a name in the same sentence they say that it is not there.
    private static let denials: Set<Substring> = ["no", "not", "never", "denies", "without", "don't", "doesn't"]

    init(_ transcript: String) {
        // What is denied is not spoken of.
        sentences = SentenceIndex(
            transcript.sentences.map { Array($0.plainWords.prefix { !Self.denials.contains($0) }) })
    }

    /// - Parameter names: as words.
    func mention(any names: [[Substring]]) -> Bool { names.contains { sentences.first(with: $0) != nil } }
}

/// The names of diagnoses, split into words once for all notes.
private struct DiagnosisNames {
    private var given: [AmbientContext.Diagnosis: [[Substring]]] = [:]
    private var words: [String: [Substring]] = [:]

    /// Its codes, their descriptions as they stand or without what is in brackets or after a comma, and names that are known
    /// for the codes.
    mutating func names(of diagnosis: AmbientContext.Diagnosis) -> [[Substring]] {
        if let known = given[diagnosis] { return known }
        var names: Set<String> = []
        for code in diagnosis.codes {
            // A bare number is spoken of for many reasons.
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

    /// The codes that are known for one of a diagnosis's names.
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
