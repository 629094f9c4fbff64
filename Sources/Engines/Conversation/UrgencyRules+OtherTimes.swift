/// Recognises statements about the past, relatives and fiction, which are no present emergencies.
extension UrgencyRules {
    private static let pastPhrases: [[String]] = [
        "history of", "years ago", "year ago", "months ago", "month ago", "last year", "last month", "used to",
        "in the past",
        "as a child", "as a kid", "as a teenager", "when i was", "when he was", "when she was", "died of", "died from",
        "passed away", "ruled out", "at the time", "back then", "years back", "back in", "previous", "previously",
        "went away", "before i was", "on shift", "last shift", "all shift", "back to normal", "operation obviously",
        "the anaesthetic", "round from",
        "his forties", "her forties", "his fifties", "her fifties", "his sixties", "her sixties", "last night's",
        "as a nurse", "as a paramedic", "a patient of mine",
        "had a patient", "had a guy", "had a bloke", "had a lady", "had a woman", "had a man", "had this patient",
        "had this lady", "had this guy", "had this bloke", "at the hospital where",
    ].map { $0.split(separator: " ").map(String.init) }
    private static let relatives: Set = [
        "mother", "father", "mum", "mom", "dad", "brother", "sister", "uncle", "aunt", "grandmother", "grandfather",
        "grandma", "grandpa", "cousin", "neighbour", "neighbor", "friend", "colleague", "nana", "nani", "dadi",
        "family",
        "mother's", "father's", "dad's", "mum's", "brother's", "sister's",
    ]

    private static let months: Set = [
        "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
        "december", "spring", "summer", "autumn", "winter",
    ]

    static func isPast(_ words: [String]) -> Bool {
        func contains(_ phrase: [String]) -> Bool {
            words.indices.contains { words[$0...].starts(with: phrase) }
        }
        if pastPhrases.contains(where: contains) { return true }
        // "in 2015"
        if zip(words, words.dropFirst()).contains(where: { first, second in
            ["in", "since", "of"].contains(first) && second.count == 4
                && (second.hasPrefix("19") || second.hasPrefix("20")) && second.allSatisfy(\.isNumber)
        }) {
            return true
        }
        // "in February"
        if zip(words, words.dropFirst()).contains(where: {
            ["in", "last", "since"].contains($0) && months.contains($1)
        }) {
            return true
        }
        // "My father had a stroke", "after his heart attack"
        return words.contains(where: relatives.contains)
            && words.contains(
                where: ["had", "died", "survived", "suffered", "family", "after", "runs", "history"].contains)
            && !words.contains(where: ["just", "now", "is"].contains)
    }

    /// Words of fiction, news and learning: jokes, films, courses.
    private static let tales: Set = [
        "joke", "jokes", "joking", "film", "movie", "movies", "series", "episode", "novel", "book", "story", "news",
        "article", "podcast", "documentary", "character", "training", "course", "lecture", "exam", "drill", "leaflet",
        "poster", "advert", "traffic", "boss", "deadline", "homework", "shoes", "laugh", "laughing", "laughed", "song",
        "television", "tv", "students", "footballer", "footballers", "celebrity", "celebrities", "programme", "actor",
        "bill", "price", "exams", "textbook", "leaflets", "scale", "zero", "finale", "funniest", "hilarious",
        "comedian",
        "promotion", "scouts", "pretend", "rehearsal", "mannequin", "manikin", "netflix", "fake",
    ]
    /// Words of events with an audience. Beside a word of ``near`` the emergency happens at the event.
    private static let shows: Set = ["show", "game", "football", "match", "pitch", "concert", "player", "class"]
    private static let near: Set = ["i", "i'm", "i've", "my", "me", "he's", "she's", "just", "now", "help"]

    private static let animals: Set = [
        "cat", "dog", "puppy", "kitten", "horse", "rabbit", "hamster", "hen", "cow", "goat", "buffalo", "cat's",
        "dog's",
    ]
    private static let bites: Set = [
        "bit", "bitten", "bite", "attacked", "mauled", "kicked", "trampled", "threw", "fell", "off",
    ]

    /// Whether a sentence is about an animal that is ill: "our cat stopped breathing at the vet's".
    private static func isAboutAnimal(_ sentence: Speech) -> Bool {
        let words = sentence.words.map(\.plain)
        if words.contains(where: ["vet", "vet's", "vets"].contains) { return true }
        return zip(words, words.dropFirst()).contains {
            ["our", "my", "the", "his", "her", "their"].contains($0) && animals.contains($1)
        }
            && !words.contains(where: bites.contains)
    }

    /// Whether a sentence tells a story, or how something ended well.
    static func isTale(_ sentence: Speech) -> Bool {
        func holds(_ words: Set<String>) -> Bool { sentence.words.contains { words.contains($0.plain) } }
        if sentence.contains(["back", "to", "normal"]) { return true }
        return holds(tales) || holds(shows) && !holds(near) || isAboutAnimal(sentence)
    }
}
