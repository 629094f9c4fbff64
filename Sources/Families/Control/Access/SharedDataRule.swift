import Basics
import HTTPTypes
import Hummingbird
import ScribeHTTP

/// Refuses the calls that would change one server alone, where several servers share their data. Namespaces, clocks,
/// faults, fixtures, snapshots, recordings and chosen results live in one process.
enum SharedDataRule {
    private static var ownParts: Set<Substring> {
        ["clock", "faults", "fixtures", "namespaces", "playbacks", "reset", "snapshots"]
    }

    /// Throws ``NamespaceProblem/shared`` for such a call.
    static func check(_ request: Request) throws(NamespaceProblem) {
        let parts = request.uri.path.split(ascii: "/").dropFirst()
        let choosesResults = parts.first == "transactions" && ["fail", "complete"].contains(parts.last)
        let isOwn = choosesResults || parts.first.map(ownParts.contains) ?? false
        guard request.method == .get || !isOwn else { throw .shared }
    }
}
