/// Name in `known` with the smallest edit distance to `name`, to suggest in error messages.
package func nearestName(to name: String, among known: [String]) -> String {
    let name = Array(name.utf8)
    return known.map { (name: $0, cost: editDistance(name, Array($0.utf8))) }.min { $0.cost < $1.cost }?.name ?? ""
}

/// Levenshtein distance: fewest insertions, removals and replacements between two lists.
@inlinable package func editDistance<Element: Equatable>(_ first: [Element], _ target: [Element]) -> Int {
    var row = Array(0...target.count)
    for (i, character) in first.enumerated() {
        var diagonal = row[0]
        row[0] = i + 1
        for j in target.indices {
            let above = row[j + 1]
            row[j + 1] = min(above + 1, row[j] + 1, diagonal + (character == target[j] ? 0 : 1))
            diagonal = above
        }
    }
    return row[target.count]
}
