import Hummingbird
import ScribeDomain
import ScribeHTTP

/// JSON bodies of operator calls.
enum ControlBody {
    /// The members of a JSON body; empty for an empty body.
    /// - Throws: ``ScribeError/invalidRequest(field:problem:)`` for a member that is not allowed.
    static func fields(
        of request: Request, allowed: Set<String>, _ context: ScribeContext
    ) async throws -> [String: JSONValue] {
        guard let body = try await request.decodeOptionalJSON(as: JSONValue.self, in: context) else { return [:] }
        guard case .object(let members) = body else {
            throw ScribeError.invalidRequest(field: nil, problem: "must be a JSON object")
        }
        for name in members.keys.sorted() where !allowed.contains(name) {
            // The name is the client's text: only a short plain one is repeated.
            let shown = name.utf8.count <= 64 && name.isPlain ? name : "?"
            throw ScribeError.invalidRequest(field: shown, problem: "is not known here")
        }
        return members
    }
}
