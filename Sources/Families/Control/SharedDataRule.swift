import HTTPTypes
import Hummingbird
import ScribeDomain
import ScribeHTTP

/// Refuses the calls that would change one server alone, where several servers share their data. Namespaces, clocks,
/// faults, fixtures, snapshots, recordings and chosen results live in one process.
struct SharedDataRule: RouterMiddleware {
    typealias Context = ScribeContext

    private static var ownParts: Set<Substring> {
        ["clock", "faults", "fixtures", "namespaces", "playbacks", "reset", "snapshots"]
    }

    func handle(
        _ request: Request, context: ScribeContext, next: @concurrent (Request, ScribeContext) async throws -> Response
    ) async throws -> Response {
        let parts = request.uri.path.split(ascii: "/").dropFirst()
        let choosesResults = parts.first == "transactions" && ["fail", "complete"].contains(parts.last)
        let isOwn = choosesResults || parts.first.map(Self.ownParts.contains) ?? false
        guard request.method == .get || !isOwn else { throw NamespaceProblem.shared }
        return try await next(request, context)
    }
}
