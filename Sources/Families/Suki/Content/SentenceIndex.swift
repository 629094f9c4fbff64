/// Index of sentences by their words, for phrase search. The cost of a search does not grow with the number of
/// sentences.
struct SentenceIndex {
    private let sentences: [[Substring]]
    /// Numbers of the sentences that contain a word, in order.
    private let numbers: [Substring: [Int]]
    /// All places of a word: sentence number, and offset within the sentence.
    private let places: [Substring: [(sentence: Int, offset: Int)]]

    /// Maximum number of a word's places that ``first(with:)`` examines, and of a word's sentences that
    /// ``nearest(to:)`` examines.
    private static let maxPlaces = 200

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

    /// Number of the first sentence that contains these words in a row.
    ///
    /// Only the first 200 places of the rarest word are examined.
    func first(with words: [Substring]) -> Int? {
        // Searches at the places of the rarest word.
        var rarest: (index: Int, places: [(sentence: Int, offset: Int)])?
        for (index, word) in words.enumerated() {
            guard let found = places[word] else { return nil }
            if found.count < rarest?.places.count ?? .max { rarest = (index, found) }
        }
        guard let rarest else { return nil }
        return rarest.places.prefix(Self.maxPlaces).first { place in
            let start = place.offset - rarest.index
            return start >= 0 && sentences[place.sentence][start...].prefix(words.count).elementsEqual(words)
        }?.sentence
    }

    /// Number of the first sentence that contains these words in a row, else of the sentence that shares most of them.
    ///
    /// The sentence shares at least a third of the words; of equal ones the first wins. A word in more than 200
    /// sentences is ignored.
    func nearest(to words: [Substring]) -> Int? {
        if let exact = first(with: words) { return exact }
        let words = Set(words)
        var shared: [Int: Int] = [:]
        for word in words {
            guard let found = numbers[word], found.count <= Self.maxPlaces else { continue }
            for number in found { shared[number, default: 0] += 1 }
        }
        guard let best = shared.max(by: { ($0.value, $1.key) < ($1.value, $0.key) }), best.value * 3 >= words.count
        else {
            return nil
        }
        return best.key
    }
}
