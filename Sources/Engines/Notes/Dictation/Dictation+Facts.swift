import ScribeDomain

/// From statements to facts.
extension Dictation {
    mutating func classify() {
        var hasComplaint = false
        for statement in statements {
            rule = statement.isImplied ? "implied heading" : "spoken heading"
            switch statement.section {
            case .complaint:
                add(
                    hasComplaint ? (statement.isImplied ? .presentIllness : .complaint) : .chiefComplaint,
                    statement.tokens)
                hasComplaint = true
            case .history: add(.presentIllness, statement.tokens)
            case .pastHistory: add(.medicalHistory, statement.tokens)
            case .medications: add(.medication, statement.tokens)
            case .allergies: add(.allergy, statement.tokens)
            case .familyHistory: add(.familyHistory, statement.tokens)
            case .socialHistory: add(.socialHistory, statement.tokens)
            case .vitals, .examination: examine(statement)
            case .investigations: add(.result, statement.tokens)
            case .assessment: add(.assessment, statement.tokens)
            case .plan: plan(statement.tokens)
            case .advice: add(Self.isReturn(statement.tokens) ? .returnPrecaution : .advice, statement.tokens)
            case .followUp: add(.followUp, statement.tokens)
            }
        }
    }

    /// Vital signs each by itself, and the rest as it was said.
    private mutating func examine(_ statement: Statement) {
        var rest: [Token] = []
        var position = 0
        func close(_ dictation: inout Dictation) {
            if rest.count > 1 || rest.first?.plain != "and" { dictation.add(.examination, rest) }
            rest = []
        }
        for sign in VitalSign.all(in: statement.tokens) {
            rest += statement.tokens[position..<sign.range.lowerBound]
            close(&self)
            var end = sign.range.upperBound
            // "97 percent in air".
            if end + 1 < statement.tokens.count, ["in", "on"].contains(statement.tokens[end].plain),
                ["air", "oxygen", "room"].contains(statement.tokens[end + 1].plain)
            {
                end += statement.tokens[end + 1].plain == "room" && end + 2 < statement.tokens.count ? 3 : 2
            } else if end + 1 < statement.tokens.count, statement.tokens[end].plain == "per",
                statement.tokens[end + 1].plain == "minute"
            {
                end += 2
            }
            add(.vital, Array(statement.tokens[sign.range.lowerBound..<end]))
            position = end
        }
        rest += statement.tokens[position...]
        close(&self)
    }

    static func isReturn(_ tokens: [Token]) -> Bool {
        ["return", "come"].contains(tokens.first?.plain) && tokens.prefix(12).contains { $0.plain == "if" }
    }

    private mutating func plan(_ tokens: [Token]) {
        let terms = Terms(tokens)
        let first = tokens.first?.plain ?? ""
        let kind: ClinicalFact.Kind =
            if Self.isReturn(tokens) {
                .returnPrecaution
            } else if ["avoid", "no", "never"].contains(first) {
                .advice
            } else if ["review", "return", "follow", "recheck"].contains(first) {
                .followUp
            } else if ["refer", "referral", "referred"].contains(first) || tokens.contains(["referral"]) {
                .referral
            } else if !MedicationMention.all(in: tokens, terms, isTaken: true).isEmpty {
                .medication
            } else if terms.has(
                [.investigation])
            {
                .investigation
            } else { .plan }
        add(kind, tokens)
    }

    private static let stopping: Set = ["stop", "hold", "withhold", "discontinue"]
    private static let sizes = Lexicon.set("dictation/sizes")

    private mutating func add(_ kind: ClinicalFact.Kind, _ tokens: [Token]) {
        let text = Self.text(tokens)
        guard text.utf8.count > 1 else { return }
        var details = ["name": text]
        if kind == .medication, let mention = MedicationMention.all(in: tokens, Terms(tokens), isTaken: true).first {
            // A record has no field for what is stopped: its name says so.
            let isStopped = Self.stopping.contains(tokens.first?.plain ?? "")
            details = ["name": isStopped ? text : mention.name]
            details["dose"] = mention.dose
            details["frequency"] = mention.frequency
            details["duration"] = mention.duration
            details["change"] = isStopped ? MedicationMention.Change.stopped.rawValue : mention.change?.rawValue
        }
        facts.append(ClinicalFact(kind, text, details: details, source: tokens.source, rule: rule))
    }

    /// The words as they were dictated, with values as notes write them: `25 mg`, `138/84`.
    private static func text(_ tokens: [Token]) -> String {
        tokens.replacingNumbers { text, range in text.contains("/") && !isSize(tokens, range) }.text
    }

    /// Whether two numbers with "by" between them are no fraction: "three by two centimetres", "from 40 by 5 mg".
    private static func isSize(_ tokens: [Token], _ range: Range<Int>) -> Bool {
        guard tokens[range].contains(where: { $0.plain == "by" }), range.upperBound < tokens.count else { return false }
        let unit = tokens[range.upperBound].plain
        return sizes.contains(unit) || MedicationMention.doseUnits.contains(unit)
    }
}
