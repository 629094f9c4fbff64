import ScribeDomain

/// Finds the served operation that a path without a route resembles most: by the edit distance of its words, where a
/// missing and an extra word cost the same.
struct NearestRoute: Sendable {
    struct Match: Hashable, Sendable {
        let method: String
        /// The route's pattern, such as `/voice/api/v2/transaction/init/{txn_id}`.
        let path: String
        /// Whether the path is the route's own, and the method alone may differ.
        let isExact: Bool
    }

    private struct Route: Sendable {
        let method: String
        let path: String
        /// Each word's place among all words of routes; nil for a parameter.
        let words: [Int?]
    }

    /// A missing word, as after a wrong base path, costs as much as four wrong letters.
    private static let wordCost = 4
    private static let mostWords = 10
    /// The longest word that is compared, in bytes.
    private static let longestWord = 24

    private let routes: [Route]
    /// All words of routes, each once: routes have most of them in common.
    private let vocabulary: [[UInt8]]

    init(_ routes: [(method: String, path: [Substring])]) {
        var places: [Substring: Int] = [:]
        var vocabulary: [[UInt8]] = []
        self.routes = routes.filter { $0.method != "HEAD" }.map { route in
            let words = route.path.map { word -> Int? in
                if word.hasPrefix("{") { return nil }
                if let place = places[word] { return place }
                places[word] = vocabulary.count
                vocabulary.append(Array(word.utf8))
                return vocabulary.count - 1
            }
            return Route(method: route.method, path: "/" + route.path.joined(separator: "/"), words: words)
        }
        self.vocabulary = vocabulary
    }

    /// Returns for each word of a path whether a log may show it: the words of routes, and the first word that leaves the
    /// routes where they have a fixed word, for it is likely mistyped. Any other word may be an identifier or a name.
    /// - Parameter mayHoldKey: whether all words but the first may be an object's key.
    func showable(_ path: [Substring], mayHoldKey: Bool) -> [Bool] {
        var followed = routes
        return path.enumerated().map { place, word in
            let known = vocabulary.firstIndex { $0.elementsEqual(word.utf8) }
            let longer = followed.filter { $0.words.count > place }
            followed = longer.filter { $0.words[place] == nil || $0.words[place] == known }
            let isMistyped = followed.isEmpty && !longer.isEmpty && (place == 0 || !mayHoldKey)
            return known != nil || isMistyped
        }
    }

    /// Returns the nearest route; nil where no word of it resembles a word of the path.
    func match(_ method: String, _ path: [Substring]) -> Match? {
        let costs = path.prefix(Self.mostWords).map { word in
            let word = Array(word.utf8.prefix(Self.longestWord))
            return vocabulary.map { Self.cost(word, $0) }
        }
        var best: (route: Route, cost: Int, total: Int)?
        for route in routes {
            let cost = Self.cost(of: route.words, costs)
            let total = 2 * cost + (route.method == method ? 0 : 1)
            if best.map({ total < $0.total }) ?? true { best = (route, cost, total) }
        }
        guard let best, resembles(best.route, costs) else { return nil }
        return Match(method: best.route.method, path: best.route.path, isExact: best.cost == 0)
    }

    /// The cost of one word in place of another: their edit distance, or one removed and one added.
    private static func cost(_ word: [UInt8], _ other: [UInt8]) -> Int {
        let most = 2 * wordCost
        return abs(word.count - other.count) >= most ? most : min(most, editDistance(word, other))
    }

    /// - Parameter costs: of each word of the path, in place of each word of the vocabulary.
    private static func cost(of route: [Int?], _ costs: [[Int]]) -> Int {
        var row = (0...route.count).map { $0 * wordCost }
        for word in costs {
            var diagonal = row[0]
            row[0] += wordCost
            for (position, place) in route.enumerated() {
                let above = row[position + 1]
                let replaced = diagonal + (place.map { word[$0] } ?? 0)
                row[position + 1] = min(above + wordCost, row[position] + wordCost, replaced)
                diagonal = above
            }
        }
        return row[route.count]
    }

    /// Whether a word of the path is one of the route's, but for a third of its letters. Parameters are no evidence.
    private func resembles(_ route: Route, _ costs: [[Int]]) -> Bool {
        route.words.compactMap(\.self).contains { place in
            costs.contains { 3 * $0[place] <= vocabulary[place].count }
        }
    }
}
