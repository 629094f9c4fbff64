import Foundation

/// Finds a speaker's name in an introduction: `my name is Asha`, `I'm Dr Rao`, `John is my name` (streaming.md 4.8).
package enum SpeakerIntroduction {
    private static let openings = [
        "my name is", "i am doctor", "i'm doctor", "i am dr", "i'm dr", "this is doctor", "this is dr", "i am nurse",
        "i'm nurse",
    ].map { $0.split(separator: " ").map(String.init) }
    /// Openings that need a capital letter after them, because most words after `I'm` are no names.
    private static let vague = ["i'm", "i am"].map { $0.split(separator: " ").map(String.init) }
    private static let closing = ["is", "my", "name"]
    private static let titles: Set<String> = ["doctor", "dr", "nurse"]
    private static let noNames: Set<String> = [
        "and", "i", "i'm", "from", "here", "the", "your", "not", "a", "an", "on",
    ]

    /// Name of the introduced speaker, with title; nil without an introduction.
    package static func name(in text: String) -> String? {
        let words = Token.words(in: text[...])
        for position in words.indices {
            if let name = plainName(in: words, at: position) { return name }
            for opening in openings where words.matches(opening, at: position) {
                var title = opening.last.flatMap { titles.contains($0) ? $0 : nil }
                var rest = words[(position + opening.count)...].prefix(3)
                if title == nil, let first = rest.first, titles.contains(first.plain) {
                    title = first.plain
                    rest = rest.dropFirst()
                }
                var names: [String] = []
                for word in rest.prefix(2) {
                    let isName = !noNames.contains(word.plain) && word.plain.first?.isLetter == true
                    // A second word counts as a name only with a capital letter.
                    guard isName, names.isEmpty || word.shown.first?.isUppercase == true else { break }
                    names.append(word.plain.capitalized)
                    if word.shown.last.map({ ".,;:!?".contains($0) }) ?? false { break }
                }
                guard !names.isEmpty else { continue }
                let titleText = title.map { $0 == "nurse" ? "Nurse " : "Dr " } ?? ""
                return titleText + names.joined(separator: " ")
            }
        }
        return nil
    }

    /// Finds a name without a title: `I'm John`, `John is my name`.
    private static func plainName(in words: [Token], at position: Int) -> String? {
        func name(at place: Int) -> String? {
            guard words.indices.contains(place) else { return nil }
            let word = words[place]
            guard word.shown.first?.isUppercase == true, word.plain.count > 1, word.shown != word.shown.uppercased(),
                !noNames.contains(word.plain), !titles.contains(word.plain)
            else { return nil }
            return word.plain.capitalized
        }
        if words.matches(closing, at: position + 1), let name = name(at: position) { return name }
        for opening in vague where words.matches(opening, at: position) { return name(at: position + opening.count) }
        return nil
    }
}
