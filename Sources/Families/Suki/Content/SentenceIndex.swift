/// Sentences by their words, to find in which of them some follow one another. What that costs does not grow with their
/// number.
struct SentenceIndex {
    private let sentences: [[Substring]]
    /// The sentences that hold a word, in their order.
    private let numbers: [Substring: [Int]]
    /// Every place of a word: the number of its sentence, and its own number in the sentence.
    private let places: [Substring: [(sentence: Int, offset: Int)]]

    /// The most places of a word, and the most sentences with it, that a search looks at.
    private static let mostPlaces = 200

    init(_ sentences: [[Substring]]) {
        var numbers: [Substring: [Int]] = [:]
        var places: [Substring: [(sentence: Int, offset: Int)]] = [:]
        for (number, words) in sentences.enumerated() {
            for (offset, word) in words.enumerated() {
                places[word, default: []].append((number, offset))
                if numbers[word]?.last != number { numbers[word, default: []].append(number) }
            }
        }
        self.sentences = sentences
        self.numbers = numbers
        self.places = places
    }

    /// The first that holds these words in a row.
    func first(with words: [Substring]) -> Int? {
        // By the places of its rarest word.
        var rarest: (index: Int, places: [(sentence: Int, offset: Int)])?
        for (index, word) in words.enumerated() {
            guard let found = places[word] else { return nil }
            if found.count < rarest?.places.count ?? .max { rarest = (index, found) }
        }
        guard let rarest else { return nil }
        return rarest.places.prefix(Self.mostPlaces).first { place in
            let start = place.offset - rarest.index
            return start >= 0 && sentences[place.sentence][start...].prefix(words.count).elementsEqual(words)
        }?.sentence
    }

    /// The one that has most of these words, at least a third of them; of equal ones the first. Words that are in most
    /// sentences count only beside rarer ones.
    func nearest(to words: [Substring]) -> Int? {
        if let exact = first(with: words) { return exact }
        let words = Set(words)
        var shared: [Int: Int] = [:]
        for word in words {
            guard let found = numbers[word], found.count <= Self.mostPlaces else { continue }
            for number in found { shared[number, default: 0] += 1 }
        }
        guard let best = shared.max(by: { ($0.value, $1.key) < ($1.value, $0.key) }), best.value * 3 >= words.count
        else {
            return nil
        }
        return best.key
    }
}
