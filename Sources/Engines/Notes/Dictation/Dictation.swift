import Basics
import ScribeDomain

/// Reads a dictated note: statements under the headings that were spoken, or that their words imply.
///
/// The words of a statement stay as they were dictated: the one who dictates has chosen them.
struct Dictation {
    /// Facts in spoken order.
    static func facts(in transcript: String) -> [ClinicalFact] {
        // An SDK sends the mode unless it is told another, whatever was recorded.
        if isConversation(transcript) { return FactExtraction.facts(in: transcript) }
        var dictation = Dictation(words: DictatedWords(transcript).tokens)
        dictation.read()
        return dictation.facts
    }

    /// Questions from which on a text is no dictation.
    private static let fewestQuestions = 2

    /// Whether two people speak: by their labels, or by questions.
    private static func isConversation(_ transcript: String) -> Bool {
        let labels = Set(transcript.lines.compactMap { SpeakerLabels.split($0).label })
        let people = labels.filter { !DictationHeading.isHeading($0) }
        if people.count > 1, people.contains(where: { SpeakerLabels.named($0) == .clinician }) { return true }
        let asking = Dialogue(transcript).clauses.filter {
            $0.act == .question && $0.tokens.contains(["you", "your", "you're", "you've"])
        }
        return asking.count >= fewestQuestions
    }

    struct Statement {
        var section: DictationSection
        var tokens: [Token]
        /// Whether the section follows from the words alone.
        var isImplied: Bool
    }

    private let words: [Token]
    private(set) var statements: [Statement] = []
    var facts: [ClinicalFact] = []
    /// Name of the rule that found the section of a statement.
    var rule = ""

    private init(words: [Token]) { self.words = words }

    // MARK: Statements

    /// Numbers of a list, and words in their place.
    private static let numbering = PhraseBook(
        ["number one", "number two", "number three", "number four", "number five", "number six", "number seven"]
            + (1...9).map { "number \($0)" })
    private static let ordinals = Lexicon.set("dictation/ordinals")
    private static let nouns = Lexicon.set("dictation/nouns")
    private static let counted = Lexicon.set("dictation/counted")

    private mutating func read() {
        var section = DictationSection.complaint
        var spoken = DictationSection.complaint
        var isImplied = true
        var open: [Token] = []
        var position = 0
        /// Whether a heading or a number came last, without words.
        var wasHeading = false
        func close() {
            guard !open.isEmpty else { return }
            statements.append(Statement(section: section, tokens: open, isImplied: isImplied))
            open = []
        }
        while position < words.count {
            let word = words[position]
            if word.plain == DictatedWords.drop {
                if !open.isEmpty {
                    // Up to the last comma, or the words that come again.
                    let kept = open.dropLast().lastIndex { $0.pause == .comma }.map { $0 + 1 } ?? 0
                    open = Array(
                        open[..<max(kept, DictatedWords.start(ofRepeated: words[(position + 1)...], in: open) ?? 0)])
                } else if !wasHeading, !statements.isEmpty {
                    statements.removeLast()
                }
                position += 1
                continue
            }
            let begins = open.isEmpty
            if let heading = DictationHeading.found(in: words, at: position, beginsStatement: begins, after: spoken) {
                close()
                (section, spoken, isImplied) = (heading.section, heading.section, false)
                if heading.isSaid { open += words[position..<heading.end] }
                (position, wasHeading) = (heading.end, true)
                if let last = open.last, last.pause >= .comma { close() }
                continue
            }
            if let end = number(at: position, in: section, begins || words[position - 1].pause > .none) {
                close()
                (position, wasHeading) = (end, true)
                continue
            }
            if let implied = implied(at: position, in: section, isImplied, begins), implied != section {
                // "Left wrist swollen": the finding is of the part before it.
                let parts = implied == .examination ? open.reversed().prefix(while: Self.isPart).count : 0
                let part = Array(open.suffix(parts))
                open.removeLast(parts)
                close()
                (section, isImplied, open) = (implied, true, part)
            } else if !begins, isList(section), beginsItem(at: position, in: section, open) {
                close()
            } else if word.plain == "and", joinsItems(at: position, in: section, open) {
                close()
                position += 1
                continue
            }
            open.append(word)
            wasHeading = false
            position += 1
            let breaks =
                isList(section) || [.pastHistory, .examination, .assessment, .investigations].contains(section)
            if word.pause >= .end || word.pause == .comma && breaks { close() }
            // What words imply ends with their sentence, before a heading is spoken.
            if word.pause >= .end, isImplied, section != .complaint { section = section.order < 4 ? .history : .plan }
        }
        close()
        classify()
    }

    private static func isPart(_ token: Token) -> Bool {
        ["left", "right", "both"].contains(token.plain) || Terms([token]).has(.bodyPart)
    }

    private func isList(_ section: DictationSection) -> Bool {
        [.plan, .medications, .advice, .followUp].contains(section)
    }

    private func number(at position: Int, in section: DictationSection, _ begins: Bool) -> Int? {
        if isList(section) || [.assessment, .investigations, .pastHistory].contains(section),
            let end = words.end(of: Self.numbering, at: position)
        {
            return end
        }
        guard section == .plan, Self.ordinals.contains(words[position].plain), position + 1 < words.count,
            !Self.counted.contains(words[position + 1].plain)
        else { return nil }
        return position + 1
    }

    // MARK: Items of a list

    private static let actions = Lexicon.set("dictation/actions")
    private static let joining = Lexicon.set("dictation/joining")

    private static let forms = Lexicon.set("dictation/forms")

    /// Words of an open item that are looked at.
    private static let window = 24

    private func beginsItem(at position: Int, in section: DictationSection, _ open: [Token]) -> Bool {
        let (before, word) = (words[position - 1], words[position].plain)
        guard !Self.joining.contains(before.plain), !Self.actions.contains(before.plain) || before.pause > .none,
            !Self.forms.contains(word) || before.pause > .none,
            !Self.isReturn(open)
        else { return false }
        if section != .followUp, isAction(at: position) { return true }
        guard section == .plan || section == .medications else { return false }
        let rest = Array(words[position...].prefix(6))
        guard let term = Terms(rest).all.first, term.range.lowerBound == 0 else { return false }
        if !term.kinds.isDisjoint(with: [.medication, .drugGroup]) { return true }
        // A test or a procedure begins an item behind a value, or behind another one: "total knee replacement".
        guard !term.kinds.isDisjoint(with: [.investigation, .procedure]) else { return false }
        let end = Array(open.suffix(Self.window))
        return Terms(end).all.last?.range.upperBound == end.count || MedicationMention.schedules.isEnd(of: end)
    }

    /// Whether "and" joins two items, of which the second is a medication: "CT head and paracetamol 1 g".
    private func joinsItems(at position: Int, in section: DictationSection, _ open: [Token]) -> Bool {
        guard section == .plan || section == .medications, position + 1 < words.count else { return false }
        let rest = Array(words[(position + 1)...].prefix(6))
        guard let term = Terms(rest).all.first, term.range.lowerBound == 0,
            !term.kinds.isDisjoint(with: [.medication, .drugGroup])
        else { return false }
        return MedicationMention.all(in: rest, Terms(rest), isTaken: true).first?.dose != nil
            && Terms(Array(open.suffix(Self.window))).has([.medication, .drugGroup, .investigation])
    }

    private func isAction(at position: Int) -> Bool {
        let word = words[position].plain
        guard Self.actions.contains(word) else { return false }
        let next = position + 1 < words.count ? words[position + 1].plain : ""
        if word == "check", next == "up" { return false }
        guard Self.nouns.contains(word), position > 0, words[position - 1].pause == .none else { return true }
        // "Dressing change", "urgent cardiology review", "500 mg tablet".
        let last = words[position - 1]
        return next != "of"
            && !["wound", "dressing", "clinic", "in", "as", "an", "for", "the", "a", "this", "to"].contains(last.plain)
            && !Terms([last]).has([.specialty, .bodyPart, .investigation, .procedure])
            && !MedicationMention.doseUnits.contains(last.plain)
    }

    // MARK: Implied sections

    private static let judging = Lexicon.set("dictation/judging")
    private static let tests = Lexicon.set("dictation/tests")
    private static let showing = Lexicon.set("dictation/showing")
    private static let findings = Lexicon.set("dictation/findings")
    private static let states = Lexicon.set("dictation/states")

    /// The section that the words at a place imply; nil if they go on.
    private func implied(
        at position: Int, in section: DictationSection, _ isImplied: Bool, _ begins: Bool
    ) -> DictationSection? {
        let word = words[position].plain
        let next = Array(words[position...].prefix(4))
        // A test with its result stands in any section but those of what is to come.
        if ![.plan, .investigations, .followUp, .advice, .assessment].contains(section) {
            let first = Terms(next).all.first
            let isNamed = first?.range.lowerBound == 0 && first?.kinds.contains(.investigation) == true
            let isTest = Self.tests.contains(word) || next.prefix(2).map(\.plain) == ["x", "ray"] || begins && isNamed
            let isResult = begins || next.dropFirst().contains { Self.showing.contains($0.plain) }
            if isTest, isResult { return .investigations }
        }
        // "Assessment and plan": what is done follows what is thought.
        if section == .assessment, !begins, isAction(at: position), !Self.nouns.contains(word),
            position == 0 || !Self.joining.contains(words[position - 1].plain)
        {
            return .plan
        }
        guard isImplied else { return nil }
        let isPhrase = position > 0 && words[position - 1].plain == "as"
        if Self.judging.contains(word), !isPhrase, section != .assessment { return .assessment }
        let vital = VitalSign.all(in: Array(words[position...].prefix(8))).first
        if section != .vitals, section != .plan, vital?.range.lowerBound == 0 { return .vitals }
        let isAction = isAction(at: position) && word != "injection"
        let isDrug =
            !Terms(next).all.filter { $0.range.lowerBound == 0 && !$0.kinds.isDisjoint(with: .drug) }.isEmpty
            && next.dropFirst().contains { $0.plain.first?.isNumber ?? false }
            && (begins || section.order >= DictationSection.vitals.order
                || position > 0 && Self.actions.contains(words[position - 1].plain))
        if section != .plan, isAction && (begins || section != .complaint || position > 3) || isDrug {
            return ["review", "return"].contains(word) ? .followUp : .plan
        }
        if [.complaint, .history, .vitals].contains(section), Self.findings.contains(word),
            next.contains(where: { Self.states.contains($0.plain) })
        {
            return .examination
        }
        return nil
    }
}

extension PhraseBook where Meaning == Void {
    /// Whether a phrase ends a list of words.
    fileprivate func isEnd(of tokens: [Token]) -> Bool {
        tokens.indices.suffix(5).contains { tokens.end(of: self, at: $0) == tokens.count }
    }
}
