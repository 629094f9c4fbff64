import Basics

/// Transcript split into clauses, each with its speaker and its kind: question, statement or answer.
struct Dialogue {
    enum Speaker: Hashable {
        case clinician, patient
    }

    enum Act: Hashable {
        case question, statement
        /// Answer yes or no; the rest of the clause belongs to the answer.
        case agreement, denial
    }

    /// Part of a sentence with one thought.
    struct Clause {
        var tokens: [Token]
        var speaker: Speaker
        var act = Act.statement
        /// Whether the transcript labels the speaker.
        var isLabelled = false
        /// Whether the clause shares the subject of the clause before: "I smoke and | drink".
        var carriesSubject = false
        /// Index of the clause's turn, from 0.
        var turn = 0
        /// Whether a companion speaks for the patient, so that "she" or "he" means the patient.
        var isGuest = false
    }

    private(set) var clauses: [Clause] = []

    init(_ transcript: String) {
        let labels = SpeakerLabels(transcript)
        var speaker: Speaker?
        var lastLabel: String?
        for (turn, line) in transcript.lines.enumerated() {
            let (label, text) = SpeakerLabels.split(line)
            // In a labelled transcript, a line without a label continues the last speaker's turn.
            if let label { speaker = labels.speaker(of: label) }
            // A clinician who answers another clinician speaks for the patient.
            let reports =
                speaker == .clinician && label != nil && label != lastLabel && clauses.last?.speaker == .clinician
                && clauses.last?.act == .question
            lastLabel = label ?? lastLabel
            let tokens = Token.tokens(of: text).withoutFillers().withoutSpelling().withoutRepeats().withoutCorrections()
            let isGuest = reports || (label.map(labels.isGuest) ?? false)
            var parts = ClauseSplitting.clauses(of: HindiSpeech.inEnglish(tokens))
            for index in parts.indices {
                parts[index].turn = turn
                parts[index].isGuest = isGuest
            }
            if let speaker {
                for index in parts.indices {
                    parts[index].speaker = reports && parts[index].act != .question ? .patient : speaker
                    parts[index].isLabelled = true
                }
                clauses += parts
            } else {
                clauses += Self.inferringSpeakers(of: parts, after: clauses.last)
            }
        }
    }

    // MARK: Speakers of unlabelled lines

    private static let cliniciansWords = Lexicon.phrases("speakers/clinicians-words")
    private static let patientsWords = Lexicon.phrases("speakers/patients-words")
    private static let instructing = Lexicon.set("speakers/instructing")
    private static let handingBack = Lexicon.set("speakers/handing-back")

    private static func inferringSpeakers(of parts: [Clause], after last: Clause?) -> [Clause] {
        var parts = parts
        // "chest pain | no": the speaker of the first clause asks.
        for (index, next) in parts.indices.dropFirst().enumerated() where parts[next].act == .denial {
            let tokens = parts[index].tokens
            guard parts[index].act == .statement, tokens.count <= 5, parts[next].tokens.count <= 2,
                !tokens.contains(["i", "i'm", "i've", "my", "it", "it's", "is", "was"])
            else { continue }
            parts[index].act = .question
        }
        var speaker = last?.speaker ?? .clinician
        var wasQuestion = last?.act == .question
        for index in parts.indices {
            let part = parts[index]
            let tokens = part.tokens
            switch part.act {
            case .question:
                speaker =
                    tokens.matches(["can", "i"], at: 0) || tokens.matches(["should", "i"], at: 0)
                        || tokens.matches(["do", "i"], at: 0)
                        || tokens.matches(["is", "it"], at: 0) && tokens.contains(["my"])
                    ? .patient : .clinician
            case .agreement, .denial, .statement:
                let instructs = instructing.contains(tokens.first?.plain ?? "") && !part.carriesSubject
                if wasQuestion, !(instructs && tokens.count > 3), !tokens.contains(["you", "your", "you're", "let's"]) {
                    speaker = .patient
                } else if part.act != .statement, tokens.count == 1 {
                    break
                } else if let first = tokens.first, handingBack.contains(first.plain), tokens.count < 4 {
                    speaker = .clinician
                } else if tokens.contains(anyOf: cliniciansWords)
                    || instructs
                {
                    speaker = .clinician
                } else if tokens.contains(anyOf: patientsWords)
                    || ["i", "i've", "i'm", "my"].contains(tokens.first?.plain)
                {
                    speaker = .patient
                } else if let first = tokens.first, handingBack.contains(first.plain) {
                    speaker = .clinician
                }
            }
            parts[index].speaker = speaker
            wasQuestion = part.act == .question && speaker == .clinician
        }
        return parts
    }
}

/// Speaker labels before colons, mapped to clinician or patient.
struct SpeakerLabels {
    private static let longest = 32
    private static let clinicians = Lexicon.set("speakers/clinicians")
    private static let patients: Set = ["patient", "pt", "p"]

    /// Inferred speaker of each ambiguous label.
    private var inferred: [String: Dialogue.Speaker] = [:]

    init(_ transcript: String) {
        var addressed: [String: Int] = [:]
        var knowsClinician = false
        for line in transcript.lines {
            let (label, text) = Self.split(line)
            guard let label else { continue }
            if let named = Self.named(label) {
                knowsClinician = knowsClinician || named == .clinician
                continue
            }
            let asked = text.utf8.lazy.filter { $0 == UInt8(ascii: "?") }.count
            addressed[label, default: 0] += asked * 2 + (text.firstIndex(ofASCII: "your") == nil ? 0 : 1)
        }
        let asking = knowsClinician ? nil : addressed.max { ($0.value, $1.key) < ($1.value, $0.key) }?.key
        for label in addressed.keys { inferred[label] = label == asking && addressed.count > 1 ? .clinician : .patient }
    }

    func speaker(of label: String) -> Dialogue.Speaker { Self.named(label) ?? inferred[label] ?? .patient }

    /// Whether a label names a person beside clinician and patient, for example a parent.
    func isGuest(_ label: String) -> Bool { Self.named(label) == nil && speaker(of: label) == .patient }

    /// Speaker that a label names; nil for a name of a person.
    static func named(_ label: String) -> Dialogue.Speaker? {
        let words = label.split { !$0.isLetter }.map(String.init)
        if words.contains(where: clinicians.contains) { return .clinician }
        return words.contains(where: patients.contains) ? .patient : nil
    }

    /// Splits a line into its label in lower case, if any, and its text. `[00:12]` is a time, not a label.
    static func split(_ line: Substring) -> (label: String?, text: Substring) {
        var line = line
        // Fast path: few lines have a label, and character comparison is slow.
        let marks = [UInt8(ascii: "["), UInt8(ascii: ":"), UInt8(ascii: "-")]
        guard line.utf8.prefix(80).contains(where: marks.contains) else { return (nil, line) }
        if line.hasPrefix("["), let end = line.prefix(40).firstIndex(of: "]") {
            let inside = line[line.index(after: line.startIndex)..<end]
            line = line[line.index(after: end)...].drop { $0 == " " || $0 == ":" }
            if inside.first?.isLetter ?? false { return (inside.lowercased(), line) }
        }
        let start = line.prefix(longest)
        guard let mark = start.firstIndex(of: ":") ?? start.firstIndex(ofASCII: " - ") else { return (nil, line) }
        let label = line[..<mark].trimmingPunctuation()
        let isDash = line[mark] != ":"
        let words = label.split { $0 == " " }
        let after = line[mark...].dropFirst()
        guard let first = label.first, first.isLetter, words.count <= 3, !label.contains(","),
            isDash || after.isEmpty || after.first == " ", !isDash || named(label.lowercased()) != nil,
            first.isUppercase || named(label.lowercased()) != nil || label.lowercased().hasPrefix("guest")
                || label.lowercased().hasPrefix("speaker")
        else { return (nil, line) }
        return (label.lowercased(), line[mark...].drop { $0 == ":" || $0 == "-" || $0 == " " })
    }
}
