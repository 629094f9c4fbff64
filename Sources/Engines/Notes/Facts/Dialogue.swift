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
        var lastLabel: String?
        for turn in Turn.all(in: transcript) {
            // A clinician who answers another clinician speaks for the patient.
            let reports =
                turn.speaker == .clinician && turn.label != nil && turn.label != lastLabel
                && clauses.last?.speaker == .clinician && clauses.last?.act == .question
            lastLabel = turn.label ?? lastLabel
            var parts = ClauseSplitting.clauses(of: turn.tokens)
            for index in parts.indices {
                parts[index].turn = turn.index
                parts[index].isGuest = reports || turn.isGuest
            }
            if let speaker = turn.speaker {
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
    /// Phrases of clinicians alone, which count right after a question too.
    private static let cliniciansActs = Lexicon.phrases("speakers/clinicians-acts")
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
                // "It's an acute otitis media."
                lazy var terms = Terms(tokens)
                let judges =
                    ["it's", "this", "that's"].contains(tokens.first?.plain) && !tokens.contains(["i", "my", "me"])
                    && terms.has(.condition) && !terms.has([.symptom, .relative])
                let instructs = instructing.contains(tokens.first?.plain ?? "") && !part.carriesSubject
                if judges || tokens.contains(anyOf: cliniciansActs) {
                    speaker = .clinician
                } else if wasQuestion, !(instructs && tokens.count > 3),
                    !tokens.contains(["you", "your", "you're", "let's"])
                {
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
