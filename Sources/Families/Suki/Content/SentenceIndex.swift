/// Sentences by their words, to find in which of them some follow one another. What that costs does not grow with their
/// number.
struct SentenceIndex {
    private let sentences: [[Substring]]
    /// Which sentences hold a word.
    private let places: [Substring: [Int]]

    /// Of a word that is in more sentences, these are looked at.
    private static let mostPlaces = 200

    init(_ sentences: [[Substring]]) {
        var places: [Substring: [Int]] = [:]
        for (number, words) in sentences.enumerated() {
            for word in Set(words) { places[word, default: []].append(number) }
        }
        self.sentences = sentences
        self.places = places
    }

    /// The first that holds these words in a row.
    func first(with words: [Substring]) -> Int? {
        // By its rarest word.
        var rarest: [Int]?
        for word in words {
            guard let found = places[word] else { return nil }
            if found.count < rarest?.count ?? .max { rarest = found }
        }
        return rarest?.prefix(Self.mostPlaces).first { sentences[$0].contains(run: words) }
    }

    /// The one that has most of these words, at least a third of them; of equal ones the first. Words that are in most
    /// sentences count only beside rarer ones.
    func nearest(to words: [Substring]) -> Int? {
        if let exact = first(with: words) { return exact }
        let words = Set(words)
        var shared: [Int: Int] = [:]
        for word in words {
            guard let found = places[word], found.count <= Self.mostPlaces else { continue }
            for number in found { shared[number, default: 0] += 1 }
        }
        guard let best = shared.max(by: { ($0.value, $1.key) < ($1.value, $0.key) }), best.value * 3 >= words.count
        else {
            return nil
        }
        return best.key
    }
}

extension [Substring] {
    /// Whether these follow one another in it.
    fileprivate func contains(run: [Substring]) -> Bool {
        guard let first = run.first, run.count <= count else { return false }
        return (0...(count - run.count)).contains { start in
            self[start] == first && self[start..<(start + run.count)].elementsEqual(run)
        }
    }
}
