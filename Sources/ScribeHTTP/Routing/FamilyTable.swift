import Hummingbird

/// Families by the beginnings of paths and by the hosts that belong to them.
struct FamilyTable: Sendable {
    private struct Node: Sendable {
        var next: [Substring: Int] = [:]
        /// The first family with paths that begin so.
        var family: Int?
    }

    private let families: [any Family]
    /// Families that claim by more than paths and hosts.
    private let others: [Int]
    private let hosts: [(suffix: String, family: Int)]
    private var nodes = [Node()]

    /// - Parameter families: Of equally strong claims the first family's wins.
    init(_ families: [any Family]) {
        self.families = families
        others = families.indices.filter { families[$0].beginnings.isEmpty }
        hosts = families.enumerated().flatMap { index, family in family.hostSuffixes.map { ($0, index) } }
        for (index, family) in families.enumerated() {
            for beginning in family.beginnings where !beginning.isEmpty { add(beginning, of: index) }
        }
    }

    private mutating func add(_ beginning: [Substring], of family: Int) {
        var node = 0
        for word in beginning {
            if let known = nodes[node].next[word] {
                node = known
            } else {
                nodes.append(Node())
                nodes[node].next[word] = nodes.count - 1
                node = nodes.count - 1
            }
        }
        if nodes[node].family == nil { nodes[node].family = family }
    }

    /// The family with the strongest claim on a request.
    func family(of address: RequestAddress) -> (family: any Family, claim: RouteClaim)? {
        var best = claim(on: address)
        for index in others {
            guard let claim = families[index].claim(on: address) else { continue }
            if let known = best, (known.claim, index) > (claim, known.family) { continue }
            best = (index, claim)
        }
        return best.map { (families[$0.family], $0.claim) }
    }

    private func claim(on address: RequestAddress) -> (family: Int, claim: RouteClaim)? {
        let path = address.path
        let first = next(path, 0, from: 0)
        let second = next(path, 1, from: first)
        let third = next(path, 2, from: second)
        // A path that is a beginning as a whole, however short, is claimed as strongly as a long one.
        let whole = path.count > 2 ? third : path.count == 2 ? second : first
        if let family = family(at: whole) { return (family, .path(words: 3)) }
        if path.count > 2, let family = family(at: second) { return (family, .path(words: 2)) }
        if let host = address.host, let known = hosts.first(where: { host.hasSuffix($0.suffix) }) {
            return (known.family, .host)
        }
        return family(at: first).map { ($0, .word) }
    }

    private func next(_ path: [Substring], _ index: Int, from node: Int?) -> Int? {
        index < path.count ? node.flatMap { nodes[$0].next[path[index]] } : nil
    }

    private func family(at node: Int?) -> Int? { node.flatMap { nodes[$0].family } }
}
