import Basics
package import Foundation
package import ScribeDomain

/// Rule-based summary of a conversation: title, overview, tasks, events and memories, from spoken words only.
package enum ConversationSummary {
    private static let longestTitle = 60
    private static let longestOverview = 600
    /// Longest overview of a conversation without medical content, in characters.
    private static let longestSmallTalk = 200
    private static let longestMemory = 2000

    /// Summarises a conversation.
    /// - Parameters:
    ///   - facts: facts of the transcript.
    ///   - transcript: one line per turn.
    package static func summary(_ facts: [ClinicalFact], of transcript: String, at date: Date) -> Conversation.Summary {
        var summary = Conversation.Summary()
        func texts(_ kinds: ClinicalFact.Kind...) -> [String] {
            facts.filter { kinds.contains($0.kind) }.map { sentence($0.text) }
        }
        let leading = texts(.assessment, .chiefComplaint, .complaint).first ?? facts.first.map { sentence($0.text) }
        summary.title = shortened(leading ?? firstWords(of: transcript), to: longestTitle)
        let medical = texts(
            .chiefComplaint, .complaint, .medicalHistory, .surgicalHistory, .familyHistory, .allergy, .vital,
            .examination,
            .result, .assessment)
        summary.overview =
            medical.isEmpty
            ? shortened(transcript.replacing("\n", with: " "), to: longestSmallTalk)
            : shortened(medical.joined(separator: ". ") + ".", to: longestOverview)
        let clauses = Dialogue(transcript).clauses
        let known = Set(facts.map { $0.text.lowercased() })
        summary.actionItems =
            facts.filter(isToDo).map { sentence($0.text) }
            + PlannedActions.tasks(in: clauses).filter { !known.contains($0.lowercased()) }.map(sentence)
        if !facts.isEmpty {
            summary.category = "health"
            summary.emoji = "🩺"
        }
        summary.events = facts.filter { $0.kind == .followUp }.compactMap { fact in
            days(until: fact.text).map { days in
                Conversation.Summary.Event(
                    title: sentence(fact.text), description: fact.text,
                    start: date.addingTimeInterval(Double(days) * 86_400), duration: 30)
            }
        }
        summary.events += PlannedActions.appointments(in: clauses, at: date).map { appointment in
            Conversation.Summary.Event(
                title: shortened(sentence(appointment.text), to: longestTitle), description: appointment.text,
                start: appointment.start, duration: 30)
        }
        return summary
    }

    /// Extracts lasting facts: allergies, chronic illness, regular medication and preferences.
    /// - Returns: each memory with its category.
    package static func memories(_ facts: [ClinicalFact], in transcript: String) -> [(
        content: String, category: String
    )] {
        let regular = ["daily", "every day", "every morning", "every night", "at night", "once a day", "twice a day"]
        var memories = facts.compactMap { fact -> (content: String, category: String)? in
            let text = fact.text.lowercased()
            let first = text.prefix { $0 != " " }
            switch fact.kind {
            case .allergy, .history, .medicalHistory, .surgicalHistory, .familyHistory:
                return Lexicon.negations.contains(String(first)) ? nil : (sentence(fact.text), "core")
            case .socialHistory:
                return (sentence(fact.text), "habits")
            case .medication:
                // A course with an end is no habit.
                let isRegular = regular.contains { text.contains($0) } && !text.contains(" for ")
                return isRegular ? (sentence(fact.text), "habits") : nil
            case .chiefComplaint, .complaint, .presentIllness, .negative, .vital, .examination, .result, .assessment,
                .investigation, .referral, .plan, .advice, .returnPrecaution, .followUp:
                return nil
            }
        }
        let preferences = PhraseBook(["i prefer", "i like", "i love", "i enjoy"])
        for words in patientSentences(of: transcript) {
            guard let start = words.indices.first(where: { words.end(of: preferences, at: $0) != nil }) else {
                continue
            }
            let quotation = words[start...].map(\.shown).joined(separator: " ").trimmingPunctuation()
            memories.append((sentence(quotation), "interests"))
        }
        var seen: Set<String> = []
        return Array(
            memories.filter {
                $0.content.unicodeScalars.count <= longestMemory && seen.insert($0.content.lowercased()).inserted
            }
            .prefix(Limits.memoriesOfConversation))
    }

    /// Splits the speech of others than clinicians into sentences. A decimal point ends no sentence.
    private static func patientSentences(of transcript: String) -> [[Token]] {
        EventLoopOffload.watch(bytes: transcript.utf8.count, of: "sentences")
        var sentences: [[Token]] = []
        for line in transcript.lines {
            let (label, text) = SpeakerLabels.split(line)
            guard label.flatMap(SpeakerLabels.named) != .clinician else { continue }
            var current: [Token] = []
            for word in Token.words(in: text) {
                let last = current.last?.shown
                // "Can't... finish... a sentence" is one sentence.
                let goesOn =
                    last?.hasSuffix("..") ?? false && word.shown.utf8.first.map { (0x61...0x7A).contains($0) } ?? false
                if !goesOn, let end = last?.unicodeScalars.last, [".", "?", "!", "।", ";"].contains(end) {
                    sentences.append(current)
                    current = []
                }
                current.append(word)
            }
            sentences.append(current)
        }
        return sentences
    }

    /// Whether a fact is a task; a medication counts only if it changes.
    private static func isToDo(_ fact: ClinicalFact) -> Bool {
        switch fact.kind {
        case .medication: fact.details["change"] != nil
        case .investigation, .referral, .plan, .advice, .followUp: true
        case .chiefComplaint, .complaint, .presentIllness, .negative, .history, .medicalHistory, .surgicalHistory,
            .familyHistory, .socialHistory, .allergy, .vital, .examination, .result, .assessment, .returnPrecaution:
            false
        }
    }

    private static func sentence(_ text: String) -> String { text.prefix(1).uppercased() + text.dropFirst() }

    private static func firstWords(of text: String) -> String {
        text.words.prefix(6).joined(separator: " ")
    }

    /// Cuts a text to at most `length` characters, at the end of a word.
    private static func shortened(_ text: String, to length: Int) -> String {
        guard text.count > length else { return text }
        let cut = text.prefix(length)
        return String(cut.lastIndex(of: " ").map { cut[..<$0] } ?? cut) + "…"
    }

    /// Parses a time such as `in one week` or `after 5 days`, in days; nil without one.
    private static func days(until text: String) -> Int? {
        let words = Token.words(in: text[...]).map(\.plain)
        let units = ["day": 1, "days": 1, "week": 7, "weeks": 7, "month": 30, "months": 30]
        let numbers = [
            "a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8,
            "nine": 9, "ten": 10,
        ]
        if words.contains("tomorrow") { return 1 }
        for (count, unit) in zip(words, words.dropFirst()) {
            guard let length = units[unit], let number = numbers[count] ?? Int(count), (1...1000).contains(number)
            else {
                continue
            }
            return number * length
        }
        return nil
    }
}
