import Basics

/// Finds the served route nearest to an unknown path, by the edit distance of their components.
///
/// A missing and an extra component cost the same.
struct NearestRoute: Sendable {
    struct Match: Hashable, Sendable {
        let method: String
        /// The route's pattern, such as `/voice/api/v2/transaction/init/{txn_id}`.
        let path: String
        /// Whether the path matches the route exactly, so that only the method can differ.
        let isExact: Bool
    }

    private struct Route: Sendable {
        let method: String
        let path: String
        /// Index of each component in the vocabulary; nil for a parameter.
        let words: [Int?]
        /// Whether this is a route of operators, such as `/__admin/info`, which is not near to a path of clients.
        let isOfOperators: Bool
    }

    /// Cost of a missing component, as after a wrong base path: that of four wrong letters.
    private static let wordCost = 4
    private static let maxWords = 10
    /// Longest component that is compared, in bytes.
    private static let longestWord = 24

    private let routes: [Route]
    /// All fixed components of routes, each once: routes share most of them.
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
            return Route(
                method: route.method, path: "/" + route.path.joined(separator: "/"), words: words,
                isOfOperators: route.path.first?.hasPrefix("__") ?? false)
        }
        self.vocabulary = vocabulary
    }

    /// Decides for each component of a path whether a log may show it.
    ///
    /// Shown are components of routes, and the first one that differs from a fixed component, since it is likely
    /// mistyped. Any other may be an identifier or a name.
    /// - Parameter mayHoldKey: Whether all components but the first may be an object's key.
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

    /// The nearest route; nil if no component of a route resembles one of the path.
    func match(_ method: String, _ path: [Substring]) -> Match? {
        let costs = path.prefix(Self.maxWords).map { word in
            let word = Array(word.utf8.prefix(Self.longestWord))
            return vocabulary.map { Self.cost(word, $0) }
        }
        var best: (route: Route, cost: Int, total: Int)?
        let isOfOperators = path.first?.hasPrefix("__") ?? false
        for route in routes where route.isOfOperators == isOfOperators {
            let cost = Self.cost(of: route.words, costs)
            let total = 2 * cost + (route.method == method ? 0 : 1)
            if best.map({ total < $0.total }) ?? true { best = (route, cost, total) }
        }
        guard let best, resembles(best.route, costs) else { return nil }
        return Match(method: best.route.method, path: best.route.path, isExact: best.cost == 0)
    }

    /// Cost of replacing one component by another: their edit distance, or that of one removal and one addition.
    private static func cost(_ word: [UInt8], _ other: [UInt8]) -> Int {
        let most = 2 * wordCost
        return abs(word.count - other.count) >= most ? most : min(most, editDistance(word, other))
    }

    /// Edit distance between a route and a path.
    /// - Parameter costs: For each component of the path, the cost of each vocabulary component.
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

    /// Whether a component of the path equals one of the route's but for a third of its letters. Parameters do not
    /// count.
    private func resembles(_ route: Route, _ costs: [[Int]]) -> Bool {
        route.words.compactMap(\.self).contains { place in
            costs.contains { 3 * $0[place] <= vocabulary[place].count }
        }
    }
}
