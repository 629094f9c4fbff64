import Foundation
import ScribeDomain

/// Finds tasks and appointments in speech: "I'll send the report by Friday", "Tuesday at 10 am".
enum PlannedActions {
    struct Appointment: Hashable {
        let text: String
        let start: Date
    }

    private static let promises = PhraseBook([
        "i'll", "i will", "we'll", "we will", "need to", "have to", "don't forget", "remember to", "remind me", "let's",
        "i'm going to", "please", "make sure", "you should", "could you", "can you",
    ])
    private static let actions: Set = [
        "send", "schedule", "book", "call", "email", "buy", "order", "arrange", "submit", "prepare", "finish", "write",
        "check", "ask", "meet", "pick", "bring", "pay", "review", "update", "share", "forward", "print", "cancel",
        "renew", "message", "ring", "collect", "sign",
    ]

    /// Finds the tasks, in spoken order and without duplicates.
    static func tasks(in clauses: [Dialogue.Clause]) -> [String] {
        clauses.compactMap { clause -> String? in
            let tokens = NoteVoice.withoutIdle(clause.tokens)
            guard let first = tokens.first, tokens.count > 1 else { return nil }
            let isOrder = actions.contains(first.plain) && clause.act != .question
            guard isOrder || tokens.contains(anyOf: promises) && tokens.contains(actions) else { return nil }
            guard let start = tokens.firstIndex(where: { actions.contains($0.plain) }) else { return nil }
            let task = NoteVoice.finished(Array(tokens[start...]))
            return task.count > 1 ? task.text : nil
        }.removingDuplicates()
    }

    /// Finds appointments with their times in UTC.
    /// - Parameter date: time of the conversation.
    static func appointments(in clauses: [Dialogue.Clause], at date: Date) -> [Appointment] {
        clauses.compactMap { clause -> Appointment? in
            guard let day = day(in: clause.tokens, after: date), let minutes = time(in: clause.tokens) else {
                return nil
            }
            let text = NoteVoice.ofClinician(clause.tokens).text
            return Appointment(text: text, start: day.addingTimeInterval(Double(minutes) * 60))
        }.removingDuplicates()
    }

    private static let weekdays = [
        "sunday": 0, "monday": 1, "tuesday": 2, "wednesday": 3, "thursday": 4, "friday": 5, "saturday": 6,
    ]
    private static let secondsOfDay = 86_400.0
    /// Weekday of 1970-01-01, counted from Sunday.
    private static let thursday = 4

    private static func day(in tokens: [Token], after date: Date) -> Date? {
        let days = (date.timeIntervalSince1970 / secondsOfDay).rounded(.down)
        for token in tokens {
            if token.plain == "today" || token.plain == "tonight" {
                return Date(timeIntervalSince1970: days * secondsOfDay)
            }
            if token.plain == "tomorrow" { return Date(timeIntervalSince1970: (days + 1) * secondsOfDay) }
            guard let weekday = weekdays[token.plain] else { continue }
            let now = (Int(days) + thursday) % 7
            let distance = (weekday - now + 6) % 7 + 1
            return Date(timeIntervalSince1970: (days + Double(distance)) * secondsOfDay)
        }
        return nil
    }

    /// Parses a time of day such as "at 10 am" or "at 14:30", in minutes after midnight.
    private static func time(in tokens: [Token]) -> Int? {
        for position in tokens.indices.dropLast() where tokens[position].plain == "at" {
            var word = tokens[position + 1].plain
            var half = position + 2 < tokens.count ? tokens[position + 2].plain : ""
            // "10am"
            for suffix in ["am", "pm"] where word.hasSuffix(suffix) && word.count > 2 {
                word.removeLast(2)
                half = suffix
            }
            let parts = word.split { $0 == ":" || $0 == "." }
            guard let hour = Int(parts.first ?? "") ?? Numbers.values[word], (0...23).contains(hour), parts.count <= 2,
                let minute = parts.count == 2 ? Int(parts[1]) : 0, (0...59).contains(minute)
            else { continue }
            let isNamed = ["am", "pm", "a.m", "p.m", "o'clock"].contains(half) || parts.count == 2
            guard isNamed || hour > 0 else { continue }
            let isAfternoon = half.hasPrefix("p") && hour < 12 || !isNamed && hour < 7
            return ((half.hasPrefix("a") && hour == 12 ? 0 : hour) + (isAfternoon ? 12 : 0)) * 60 + minute
        }
        return nil
    }
}
